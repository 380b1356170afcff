import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pino from 'pino';
import { createGitBranches } from '../../../../activities/adapters/git-hosts/git-branches.ts';
import { createGitMirrors } from '../../../../activities/adapters/git/git-mirrors.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type GitServer, startGitServer, trustingGit } from '../../../simulators/git-server.ts';
import { type SshGitServer, startSshGitServer } from '../../../simulators/ssh-git-server.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { eventually } from '../../../support/worker.ts';

const CREDENTIAL = { username: 'x-access-token', password: 'very-secret' };
const { signal } = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'quayside-remotes-'));
let remote: TestRepository;
let host: GitServer;
let other: GitServer;
let ssh: SshGitServer;
let silent: Server;
const silentSockets = new Set<Socket>();

beforeAll(async () => {
  remote = newRepository();
  remote.commit({ files: { 'sfdx-project.json': '{}' } });
  [host, other] = [await startGitServer(tmpdir()), await startGitServer(tmpdir())];
  host.admit(CREDENTIAL);
  other.admit(CREDENTIAL);
  ssh = await startSshGitServer(tmpdir());
  // It takes connections and says nothing.
  silent = createServer((socket) => silentSockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  for (const socket of silentSockets) socket.destroy();
  await Promise.all([host.close(), other.close(), ssh.close(), new Promise((resolve) => silent.close(resolve))]);
  remote.remove();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => {
  for (const server of [host, other]) {
    server.intercept(undefined);
    server.seen.length = 0;
    server.hosts.length = 0;
  }
});

const remotesOf = ({ found = ['127.0.0.1'], remoteTimeoutMs = 600_000 } = {}) => {
  const asked: string[] = [];
  const own = mkdtempSync(join(folder, 'mirrors-'));
  const options = {
    folder: own,
    allowLocal: false,
    addresses: outboundAddresses('127.0.0.0/8'),
    resolve: async (name: string) => {
      asked.push(name);
      return found;
    },
  };
  const program = trustingGit(own);
  const log = pino({ level: 'silent' });
  return {
    asked,
    mirrors: createGitMirrors({ ...options, log, program, remoteTimeoutMs }),
    createBranch: createGitBranches({ ...options, program }),
  };
};
const newMirror = () => ({ tenantId: newId(), projectId: newId() });
const byHttps = (name = 'one.git.example', server = host) => ({
  url: server.urlOf(remote.path, name),
  credential: CREDENTIAL,
});
const bySsh = (privateKey?: string) => ({
  url: `ssh://git@shop.ssh.example:${ssh.port}/${basename(remote.path)}`,
  credential: privateKey === undefined ? undefined : { username: 'x', privateKey },
});
/** Processes of this machine whose command line names a port. */
const running = (port: number): string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => new RegExp(`\\b${port}\\b`).test(line));

test('a host is looked up once, and git is bound to the address that was checked', async () => {
  const { mirrors, asked } = remotesOf();
  await expect(mirrors.fetch(newMirror(), byHttps(), signal)).resolves.toEqual({ outcome: 'fetched' });
  expect(asked).toEqual(['one.git.example']);
  // No name server knows this name: git had the address from us.
  expect(new Set(host.hosts)).toEqual(new Set([`one.git.example:${host.port}`]));
});

test('of several addresses the one that answers is called', async () => {
  const found = ['127.0.0.9', '127.0.0.1'];
  const { mirrors } = remotesOf({ found });
  await expect(mirrors.fetch(newMirror(), byHttps(), signal)).resolves.toEqual({ outcome: 'fetched' });
  await expect(mirrors.fetch(newMirror(), bySsh(ssh.privateKey), signal)).resolves.toEqual({ outcome: 'fetched' });
});

test.each([
  [['10.0.0.1']],
  [['127.0.0.1', '169.254.169.254']],
  [['::ffff:10.0.0.1']],
  [['64:ff9b::a9fe:a9fe']],
  [['fd00:ec2::254']],
])('a name that resolves to %j is refused, and the reason names no address', async (found) => {
  const { mirrors, createBranch } = remotesOf({ found });
  const reason = 'one.git.example is not at a public address';
  await expect(mirrors.fetch(newMirror(), byHttps(), signal)).resolves.toEqual({ outcome: 'failed', reason });
  const order = { remote: byHttps(), branch: 'a', sourceRef: 'main' };
  await expect(createBranch(order, signal)).resolves.toEqual({ isOk: false, reason });
  expect(host.hosts).toEqual([]);
});

test.each([301, 302, 303, 307, 308])(
  'a redirect (%d) is not followed, with or without a credential',
  async (status) => {
    const { mirrors } = remotesOf();
    host.intercept((request, response) =>
      response.writeHead(status, { location: `${other.urlOf('', 'two.git.example')}${request.url}` }).end(),
    );
    for (const credential of [CREDENTIAL, undefined]) {
      await expect(mirrors.fetch(newMirror(), { ...byHttps(), credential }, signal)).resolves.toEqual({
        outcome: 'failed',
        reason: expect.stringContaining('redirects'),
      });
    }
    expect(other.hosts).toEqual([]);
  },
);

test('neither a server without the smart protocol, nor its alternates, lead git to another server', async () => {
  const { mirrors } = remotesOf();
  const sha = remote.git(['rev-parse', 'main']);
  host.intercept((request, response) => {
    if (request.url?.includes('/info/refs')) response.end(`${sha}\trefs/heads/main\n`);
    else if (request.url?.endsWith('/HEAD')) response.end('ref: refs/heads/main\n');
    else if (request.url?.includes('alternates')) response.end(`${other.urlOf(remote.path)}/objects\n`);
    else response.writeHead(404).end();
  });
  const result = await mirrors.fetch(newMirror(), { ...byHttps(), credential: undefined }, signal);
  expect(result.outcome).toBe('failed');
  expect(other.hosts).toEqual([]);
});

test('a credential goes to the remote that it was found for, also when the mirror was fetched from another', async () => {
  const { mirrors } = remotesOf();
  const mirror = newMirror();
  const sha = remote.git(['rev-parse', 'main']);
  await expect(mirrors.fetch(mirror, byHttps('two.git.example', other), signal)).resolves.toEqual({
    outcome: 'fetched',
  });
  other.seen.length = 0;
  other.hosts.length = 0;
  // The address of the project was changed, and a file is read before the next fetch.
  await expect(mirrors.file(mirror, byHttps(), sha, 'sfdx-project.json', 10_000)).resolves.toBe('{}');
  expect(host.seen.length).toBeGreaterThan(0);
  expect(other.hosts).toEqual([]);
});

test('settings of the machine and of the environment lead git nowhere else', async () => {
  const before = { ...process.env };
  Object.assign(process.env, {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${other.urlOf('')}.insteadOf`,
    GIT_CONFIG_VALUE_0: host.urlOf('', 'one.git.example'),
    GIT_CONFIG_PARAMETERS: `'http.proxy=http://127.0.0.1:1'`,
    https_proxy: 'http://127.0.0.1:1',
    ALL_PROXY: 'http://127.0.0.1:1',
    GIT_SSH: '/bin/false',
    GIT_SSH_COMMAND: '/bin/false',
    GIT_PROXY_COMMAND: '/bin/false',
    GIT_ASKPASS: '/bin/false',
    GIT_ALTERNATE_OBJECT_DIRECTORIES: '/',
    SSH_AUTH_SOCK: '/nowhere',
  });
  try {
    const { mirrors } = remotesOf();
    for (const at of [byHttps(), bySsh(ssh.privateKey)])
      await expect(mirrors.fetch(newMirror(), at, signal)).resolves.toEqual({ outcome: 'fetched' });
    expect(other.hosts).toEqual([]);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  }
});

test('over ssh, a repository is read and a branch is made with the key of the integration', async () => {
  const { mirrors, createBranch } = remotesOf();
  const mirror = newMirror();
  const at = bySsh(ssh.privateKey);
  await expect(mirrors.fetch(mirror, at, signal)).resolves.toEqual({ outcome: 'fetched' });
  const sha = remote.git(['rev-parse', 'main']);
  await expect(mirrors.refs(mirror)).resolves.toContainEqual({ kind: 'branch', name: 'main', sha });
  await expect(mirrors.file(mirror, at, sha, 'sfdx-project.json', 10_000)).resolves.toBe('{}');
  await expect(createBranch({ remote: at, branch: 'by-ssh', sourceRef: 'main' }, signal)).resolves.toEqual({
    isOk: true,
    commitId: sha,
  });
  expect(remote.git(['rev-parse', 'by-ssh'])).toBe(sha);
  expect(ssh.commands.every((command) => /^git-(upload|receive)-pack '/.test(command))).toBe(true);
});

test('over ssh, no key but that of the integration is offered, and a stranger is refused', async () => {
  const { mirrors } = remotesOf();
  const stranger = await startSshGitServer(tmpdir());
  await stranger.close();
  ssh.tried.length = 0;
  const reason = 'The remote refused the credentials';
  await expect(mirrors.fetch(newMirror(), bySsh(), signal)).resolves.toEqual({ outcome: 'failed', reason });
  expect(ssh.tried).toEqual(['git none']);
  await expect(mirrors.fetch(newMirror(), bySsh(stranger.privateKey), signal)).resolves.toEqual({
    outcome: 'failed',
    reason,
  });
  expect(ssh.tried).toEqual(['git none', 'git none', 'git publickey']);
});

test('an impostor with another host key is not talked to', async () => {
  const { mirrors } = remotesOf();
  const at = bySsh(ssh.privateKey);
  await expect(mirrors.fetch(newMirror(), at, signal)).resolves.toEqual({ outcome: 'fetched' });
  await ssh.changeHostKey();
  ssh.tried.length = 0;
  await expect(mirrors.fetch(newMirror(), at, signal)).resolves.toEqual({
    outcome: 'failed',
    reason: 'The ssh host key of the remote is not the one that it showed first',
  });
  expect(ssh.tried).toEqual([]);
});

test.each(['https', 'ssh'])('a remote that hangs over %s is given up, and nothing goes on', async (scheme) => {
  const { port } = silent.address() as AddressInfo;
  const { mirrors } = remotesOf({ remoteTimeoutMs: 700 });
  const at = { url: `${scheme}://one.git.example:${port}/shop.git`, credential: undefined };
  await expect(mirrors.fetch(newMirror(), at, signal)).resolves.toEqual({
    outcome: 'failed',
    reason: 'The remote did not answer in time',
  });
  await eventually(
    async () => running(port),
    (found) => found.length === 0,
  );
});

test('a fetch that is stopped ends with all that it started', async () => {
  const { port } = silent.address() as AddressInfo;
  const { mirrors } = remotesOf();
  const stop = new AbortController();
  const at = { url: `https://one.git.example:${port}/shop.git`, credential: undefined };
  const fetched = mirrors.fetch(newMirror(), at, stop.signal);
  await eventually(
    async () => running(port),
    (found) => found.length > 0,
  );
  stop.abort();
  await expect(fetched).rejects.toThrow();
  await eventually(
    async () => running(port),
    (found) => found.length === 0,
  );
});
