import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';

/** A git host over HTTP (gitprotocol-http), which asks for a name and a password: git's own `http-backend` behind it. */
export interface GitServer {
  /** Of the repository at a path on this machine. */
  urlOf: (path: string) => string;
  /** What opens it from now on. */
  admit: (credential: { username: string; password: string }) => void;
  /** `Authorization` headers that came. */
  seen: string[];
  close: () => Promise<void>;
}

/** @param root the folder in which repositories lie. */
export async function startGitServer(root: string): Promise<GitServer> {
  let admitted = '';
  const seen: string[] = [];
  const execPath = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) seen.push(authorization);
    if (authorization !== admitted) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const backend = spawn(`${execPath}/git-http-backend`, [], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REQUEST_METHOD: request.method,
        PATH_INFO: path,
        QUERY_STRING: query,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        REMOTE_USER: 'git',
        REMOTE_ADDR: '127.0.0.1',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    request.pipe(backend.stdin);
    backend.stdin.on('error', () => {});
    let head = Buffer.alloc(0);
    backend.stdout.on('data', (chunk: Buffer) => {
      if (response.headersSent) {
        response.write(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const headers = Object.fromEntries(
        head
          .toString('latin1', 0, end)
          .split('\r\n')
          .map((line) => line.split(': ') as [string, string]),
      );
      response.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers);
      response.write(head.subarray(end + 4));
    });
    backend.on('close', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (path) => `http://127.0.0.1:${port}/${path.slice(dirname(path).length + 1)}`,
    admit({ username, password }) {
      admitted = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    },
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
