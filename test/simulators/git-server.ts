import { execFileSync, spawn } from 'node:child_process';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './certificate.ts';

/** A git host over https (gitprotocol-http), which asks for a name and a password: git's own `http-backend` behind it. */
export interface GitServer {
  port: number;
  /**
   * Address of the repository at a path on this machine.
   * @param host default: an IP address.
   */
  urlOf: (path: string, host?: string) => string;
  /** What opens it from now on. */
  admit: (credential: { username: string; password: string }) => void;
  /** `Authorization` headers that came. */
  seen: string[];
  /** `Host` headers of all requests. */
  hosts: string[];
  /** Answers requests in place of git; undefined: git again. */
  intercept: (answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined) => void;
  close: () => Promise<void>;
}

/** @param root the folder in which repositories lie. Its certificate is `TEST_CERTIFICATE`. */
export async function startGitServer(root: string): Promise<GitServer> {
  let admitted = '';
  const seen: string[] = [];
  const hosts: string[] = [];
  let intercepted: Parameters<GitServer['intercept']>[0];
  const execPath = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  const server = createServer({ cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }, (request, response) => {
    const { authorization, host = '' } = request.headers;
    hosts.push(host);
    if (authorization !== undefined) seen.push(authorization);
    if (intercepted) {
      intercepted(request, response);
      return;
    }
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
    port,
    urlOf: (path, host = '127.0.0.1') => `https://${host}:${port}/${path.slice(dirname(path).length + 1)}`,
    admit({ username, password }) {
      admitted = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    },
    seen,
    hosts,
    intercept(answer) {
      intercepted = answer;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A git program that trusts the certificate of these servers. @param folder where it is written. */
export function trustingGit(folder: string): string {
  const [program, authority] = [join(folder, 'trusting-git'), join(folder, 'authority.pem')];
  writeFileSync(authority, TEST_CERTIFICATE);
  writeFileSync(program, `#!/bin/sh\nGIT_SSL_CAINFO='${authority}' exec git "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}
