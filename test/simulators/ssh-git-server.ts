import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ssh2, { type Connection, type ParsedKey } from 'ssh2';

/** A git host over ssh, which knows people by their keys: git's own programs behind it. */
export interface SshGitServer {
  port: number;
  /** A private key that opens it, in OpenSSH's form. */
  privateKey: string;
  /** Commands that came. */
  commands: string[];
  /** Users that tried, with the way in which they did. */
  tried: string[];
  /** Shows another host key from now on, as an impostor would. */
  changeHostKey: () => Promise<void>;
  close: () => Promise<void>;
}

/** The library (1.17.0) now and then writes a key that it cannot read itself. */
function newKey(): ReturnType<typeof ssh2.utils.generateKeyPairSync> {
  const pair = ssh2.utils.generateKeyPairSync('ed25519');
  return ssh2.utils.parseKey(pair.private) instanceof Error ? newKey() : pair;
}

const COMMAND = /^(git-upload-pack|git-receive-pack) '\/?([\w./-]+)'$/;

/** @param root the folder in which repositories lie. */
export async function startSshGitServer(root: string): Promise<SshGitServer> {
  const person = newKey();
  const admitted = ssh2.utils.parseKey(person.public) as ParsedKey;
  const commands: string[] = [];
  const tried: string[] = [];
  const connections = new Set<Connection>();
  const start = (port: number) => {
    const server = new ssh2.Server({ hostKeys: [newKey().private] }, (client) => {
      connections.add(client);
      client.on('error', () => {});
      client.on('close', () => connections.delete(client));
      client.on('authentication', (attempt) => {
        tried.push(`${attempt.username} ${attempt.method}`);
        const isAdmitted =
          attempt.method === 'publickey' &&
          attempt.key.data.equals(admitted.getPublicSSH()) &&
          (!attempt.signature || admitted.verify(attempt.blob ?? '', attempt.signature, attempt.hashAlgo));
        if (isAdmitted) attempt.accept();
        else attempt.reject(['publickey']);
      });
      client.on('session', (accept) => {
        const env: Record<string, string> = {};
        const session = accept();
        session.on('env', (accepted, _, { key, val }) => {
          env[key] = val;
          (accepted as (() => void) | undefined)?.();
        });
        session.on('exec', (accepted, refused, { command }) => {
          commands.push(command);
          const [, program, path] = COMMAND.exec(command) ?? [];
          if (program === undefined || path === undefined) {
            refused();
            return;
          }
          const channel = accepted();
          const child = spawn(program, [join(root, path)], { env: { PATH: process.env.PATH, ...env } });
          channel.pipe(child.stdin).on('error', () => {});
          child.stdout.pipe(channel, { end: false });
          child.stderr.pipe(channel.stderr, { end: false });
          child.on('close', (exitCode) => {
            channel.exit(exitCode ?? 1);
            channel.end();
          });
        });
      });
    });
    return new Promise<typeof server>((resolve) => {
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  };
  const stop = async () => {
    for (const connection of connections) connection.end();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  let server = await start(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    privateKey: person.private,
    commands,
    tried,
    async changeHostKey() {
      await stop();
      server = await start(port);
    },
    close: stop,
  };
}
