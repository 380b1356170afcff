import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { writtenPublicKeys } from '../../domain/kernel/encryption/public-token-ring.ts';
import { createTokenRing } from '../../domain/kernel/encryption/token-ring.ts';
import { SETTINGS } from '../../domain/kernel/settings/config.ts';
import { NOT_OF_HOSTS } from '../../domain/kernel/settings/host-config.ts';
import { execForm, pairsOf, parseDockerfile } from '../../tools/dockerfile.ts';

const read = (name: string): string => readFileSync(`docs/deployment/${name}`, 'utf8');
const dockerfile = parseDockerfile(read('Dockerfile'));
const hostDockerfile = parseDockerfile(read('browser-host.Dockerfile'));

const OWN_IMAGES = new Set(['quayside', 'quayside-browser-host']);

/** Names of variables that a deployment sets, without those that name the file of a secret. */
const settingOf = (name: string): string => name.replace(/(?<=_(URL|KEYS))_FILE$/, '');

test('every image that others make is pinned by its digest', () => {
  const images = [
    ...[...dockerfile, ...hostDockerfile].flatMap(({ name, text }) =>
      name === 'FROM' ? [text.split(' ')[0] ?? ''] : [],
    ),
    ...[...read('compose.yaml').matchAll(/^\s*image: (.+)$/gm)].map(([, image = '']) => image),
  ].filter((image) => !OWN_IMAGES.has(image));
  expect(images.length).toBeGreaterThan(3);
  expect(images.filter((image) => !/:[\w.-]*\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
});

test('the command for workers in the operations names every task queue', () => {
  const sources = globSync('workflows/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const ofBrowserHosts = 'browser-sessions-v1';
  const queues = new Set(
    sources.flatMap((text) => [...text.matchAll(/(?:_QUEUE =|taskQueue:) '([a-z-]+-v\d+)'/g)].map(([, name]) => name)),
  );
  const [, named = ''] =
    /start:worker -- --queues (\S+)`/.exec(readFileSync('docs/operations/install.md', 'utf8')) ?? [];
  expect([...named.split(','), ofBrowserHosts].toSorted()).toEqual([...queues].toSorted());
});

test('every service of a host has a limit of memory, and the metrics store keeps to less', () => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, { mem_limit?: string; command?: string[] }>;
  };
  expect(Object.keys(services)).toContain('metrics-store');
  for (const service of Object.values(services)) expect(service.mem_limit).toMatch(/^\d+[mg]$/);
  expect(services['metrics-store']?.command).toContainEqual(expect.stringMatching(/^-memory\.allowedBytes=\d+MB$/));
});

test('the image runs as a user of its own and copies what .dockerignore lets through', () => {
  const texts = (name: string) => dockerfile.filter((each) => each.name === name).map(({ text }) => text);
  expect(texts('USER')).toEqual(['10001:10001']);
  const letThrough = [...readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm)].map(([, path]) => path);
  const paths = texts('COPY').flatMap((text) => text.split(' ').slice(0, -1));
  // What an earlier stage made is not sent to the builder.
  const sent = paths.filter((path) => !path.startsWith('/')).map((path) => path.split('/')[0]);
  expect(letThrough.toSorted()).toEqual([...new Set(sent)].toSorted());
  expect(paths).toContain('/srv/quayside/console/dist');
  const scripts = (JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }).scripts;
  const [, , script = ''] = execForm(texts('CMD')[0] ?? '');
  // Under npm, only a shell that makes way for the process passes the signal on.
  for (const each of [script, 'start:worker']) expect(scripts[each]).toMatch(/^exec node /);
});

test('the image of browser hosts holds their programs, and of the service what they load', () => {
  const own = hostDockerfile.findLastIndex(({ name }) => name === 'FROM');
  const texts = (name: string) =>
    hostDockerfile
      .slice(own)
      .filter((each) => each.name === name)
      .map(({ text }) => text);
  const base = dockerfile.findLast(({ name }) => name === 'FROM');
  expect(texts('FROM')).toEqual([base?.text]);
  expect(texts('COPY')).toEqual(['/srv/browser-host ./']);
  const started = execForm(texts('CMD')[0] ?? '').join(' ');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  expect(scripts['start:browser-host']).toBe(`exec ${started}`);
  expect(texts('USER').at(-1)).toBe('10001:10001');
  for (const program of ['chromium', 'ffmpeg', 'bubblewrap', 'socat']) expect(texts('RUN').join()).toContain(program);
});

test('browser hosts are given no secret of the service', () => {
  const [, inCompose = ''] = /\n {2}browser-host:\n([\s\S]*?)\n\n/.exec(read('compose.yaml')) ?? [];
  const inChart = read('kubernetes/templates/browser-host.yaml');
  expect(inCompose).toContain('secrets: [browsers_database_url, token_public_keys]');
  expect(inChart).not.toMatch(/"quayside\.(variables|volumes|mounts)"/);
  for (const text of [inCompose, inChart]) {
    const set = [...text.matchAll(/(?:^ {6}|name: )([A-Z_]+)(?=[:,])/gm)].map(([, name = '']) => name);
    const env = Object.fromEntries(set.map((name) => [name.replace(/_FILE$/, ''), 'x']));
    expect(set).toContain('TOKEN_PUBLIC_KEYS_FILE');
    expect(NOT_OF_HOSTS.filter((name) => name in env)).toEqual([]);
  }
  // `<<: *environment` would bring those of the other services.
  expect(inCompose).not.toContain('*environment');
});

test('browser hosts have profiles of their own, which allow namespaces and mounts, and nothing of the kernel', () => {
  const [compose, chart, values] = [
    'compose.yaml',
    'kubernetes/templates/browser-host.yaml',
    'kubernetes/values.yaml',
  ].map(read);
  expect(compose).toContain('- seccomp=./browser-host-seccomp.json');
  expect(compose).not.toMatch(/(seccomp|apparmor)=unconfined/);
  expect(chart).not.toContain('Unconfined');
  expect(values).toContain('localhostProfile: quayside/browser-host-seccomp.json');
  const { defaultAction, syscalls } = JSON.parse(read('browser-host-seccomp.json')) as {
    defaultAction: string;
    syscalls: { names: string[]; action: string }[];
  };
  const allowed = new Set(syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW').flatMap(({ names }) => names));
  expect(defaultAction).toBe('SCMP_ACT_ERRNO');
  for (const name of ['clone', 'unshare', 'mount', 'umount2', 'pivot_root', 'seccomp']) expect(allowed).toContain(name);
  for (const name of [
    'bpf',
    'init_module',
    'io_uring_setup',
    'kexec_load',
    'keyctl',
    'perf_event_open',
    'ptrace',
    'setns',
  ])
    expect(allowed).not.toContain(name);
  const apparmor = read('browser-host-apparmor');
  const [, profile = ''] = /^profile (\S+) /m.exec(apparmor) ?? [];
  expect([compose, values].every((text) => text?.includes(profile))).toBe(true);
});

test('the public keys that ./make-secrets makes are those of the private ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-secrets-'));
  const script = join(folder, 'make-secrets');
  copyFileSync('docs/deployment/make-secrets', script);
  const made = (name: string) => readFileSync(join(folder, 'secrets', name), 'utf8').trim();
  const { status, stderr } = spawnSync('bash', [script], { encoding: 'utf8' });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(made('token_public_keys')).toBe(writtenPublicKeys(createTokenRing(made('token_keys'))));
  rmSync(folder, { recursive: true, force: true });
});

test('deployments set variables that exist', () => {
  const image = dockerfile
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text }) => pairsOf(text).map(([name]) => name));
  const inCompose = [...read('compose.yaml').matchAll(/^ {4}([A-Z_]+): /gm)].map(([, name = '']) => name);
  const inChart = [
    ...read('kubernetes/values.yaml').matchAll(/^ {2}([A-Z_]+): /gm),
    ...read('kubernetes/templates/_helpers.tpl').matchAll(/name: ([A-Z_]+)/g),
  ].map(([, name = '']) => name);
  const known = new Set([
    ...SETTINGS,
    'MALLOC_ARENA_MAX',
    'MALLOC_MMAP_THRESHOLD_',
    'NPM_CONFIG_LOGS_MAX',
    'NPM_CONFIG_UPDATE_NOTIFIER',
  ]);
  expect(inChart.length).toBeGreaterThan(7);
  expect([...image, ...inCompose, ...inChart].map(settingOf).filter((name) => !known.has(name))).toEqual([]);
});

test('the chart has workers for each task queue', () => {
  const [, documented = ''] = /--queues ([a-z0-9,-]+)`/.exec(readFileSync('docs/operations/install.md', 'utf8')) ?? [];
  const inChart = [...read('kubernetes/values.yaml').matchAll(/queues: \[([^\]]+)\]/g)].flatMap(([, list = '']) =>
    list.split(', '),
  );
  expect(inChart.toSorted()).toEqual(documented.split(',').toSorted());
});
