import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoAnalysis, demoChanges, type DemoCandidate } from './demo-changes.ts';
import { demoClient } from './demo-client.ts';
import { demoDocuments } from './demo-documents.ts';
import { type DemoReceiver, startReceiver } from './demo-receiver.ts';
import { exitWith, OperatorError } from './operator-error.ts';

const run = promisify(execFile);
const ENVIRONMENTS = [
  { name: 'integration', category: 'test' },
  { name: 'acceptance', category: 'release' },
  { name: 'staging', category: 'release' },
  { name: 'production', category: 'release' },
] as const;
const EVENTS = [
  'release_candidate.created',
  'deployment.completed',
  'release_candidate.finalized',
  'release.published',
] as const;
/** How commits name work items: `SHOP-12`, and issues by number. */
const WORK_ITEMS = [
  '\\b[A-Z][A-Z0-9]{1,9}-[0-9]{1,9}\\b',
  '(?i)\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?)[ :]+(#[0-9]{1,9})\\b',
];
/** How many of the newest candidates travel. */
const CANDIDATES = 5;
const DELIVERY_MS = 15_000;

const startedAt = performance.now();
const say = (text: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(2).padStart(7)} s  ${text}`);

interface Milestone {
  releaseName: string;
  commitSha: string;
  tag?: string;
  subject: string;
}

/** Output lines of git in a repository; names go as arguments, never through a shell. */
async function git(repository: string, ...args: string[]): Promise<string[]> {
  try {
    const { stdout } = await run('git', ['-C', repository, ...args], { maxBuffer: 256 * 1024 * 1024 });
    return stdout.split('\n').filter(Boolean);
  } catch (error) {
    throw new OperatorError(`git ${args[0]} failed in ${repository}: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** The points of a history that become candidates, oldest first: its tags, or every n-th commit when it has few. */
async function milestones(repository: string, everyN: number | undefined): Promise<{ all: Milestone[]; kind: string }> {
  const tags = await git(
    repository,
    'for-each-ref',
    '--sort=creatordate',
    '--format=%(refname:short)%09%(*objectname)%09%(objectname)%09%(subject)',
    'refs/tags',
  );
  if (everyN === undefined && tags.length >= 2) {
    const all = tags.map((line): Milestone => {
      const [tag = '', peeled = '', own = '', subject = ''] = line.split('\t');
      return { releaseName: tag, tag, commitSha: peeled || own, subject };
    });
    return { all, kind: 'a candidate per tag' };
  }
  const commits = await git(repository, 'log', '--reverse', '--first-parent', '--format=%H%x09%as%x09%s');
  const step = everyN ?? Math.max(1, Math.floor(commits.length / CANDIDATES));
  const all = commits
    .filter((_, index) => (commits.length - 1 - index) % step === 0)
    .map((line): Milestone => {
      const [commitSha = '', date = '', subject = ''] = line.split('\t');
      return { releaseName: `${date}-${commitSha.slice(0, 8)}`, commitSha, subject };
    });
  return { all, kind: `a candidate every ${step} commits` };
}

interface Packages {
  versions: Record<string, string>;
  /** Relative to the root; `.`: all of it. */
  folders: Record<string, string>;
}

/** Packages of a commit: every package.json in its tree with a name; the version has the commit count as its build. */
async function packagesAt(repository: string, commitSha: string): Promise<Packages> {
  const files = (await git(repository, 'ls-tree', '-r', '--name-only', '--end-of-options', commitSha)).filter(
    (file) => basename(file) === 'package.json',
  );
  const [build = '0'] = await git(repository, 'rev-list', '--count', '--end-of-options', commitSha);
  const packages: Packages = { versions: {}, folders: {} };
  for (const file of files.slice(0, 200)) {
    const text = (await git(repository, 'show', `${commitSha}:${file}`)).join('\n');
    try {
      const { name, version = '0.0.0' } = JSON.parse(text) as { name?: string; version?: string };
      if (!name) continue;
      packages.versions[name] = `${version}-${build}`;
      packages.folders[name] = dirname(file);
    } catch {
      // A fixture that is meant to be broken is no package.
    }
  }
  const name = basename(repository);
  return Object.keys(packages.versions).length > 0
    ? packages
    : { versions: { [name]: `0.0.0-${build}` }, folders: { [name]: '.' } };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { url: { type: 'string' }, every: { type: 'string' } },
  });
  const repository = resolve(positionals[0] ?? '.');
  if (!existsSync(repository)) throw new OperatorError(`There is no folder ${repository}.`);
  const everyN = values.every === undefined ? undefined : Number(values.every);
  if (everyN !== undefined && !(Number.isInteger(everyN) && everyN > 0))
    throw new OperatorError('--every takes a number of commits.');

  const api = await demoClient(values.url ?? `http://127.0.0.1:${process.env.PORT || 3000}`, ownerCredentials());
  const head = (await git(repository, 'rev-list', '--count', 'HEAD'))[0];
  const { all, kind } = await milestones(repository, everyN);
  const chosen = all.slice(-CANDIDATES);
  say(`${repository}: ${head} commits, ${all.length} milestones (${kind}); the newest ${chosen.length} travel`);

  const suffix = randomBytes(3).toString('hex');
  const repositoryIdentifier = `demo/${basename(repository).replaceAll(/[^\w.-]/g, '-')}-${suffix}`;
  const domain = 'main';
  const { folders } = await packagesAt(repository, chosen.at(-1)?.commitSha ?? 'HEAD');
  const { id: projectId } = await api.post('/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: repository,
    configuration: {
      displayName: basename(repository),
      domains: [domain],
      autoReleaseFinalization: true,
      packagePaths: folders,
      workItems: { workItemFilters: WORK_ITEMS },
    },
  });
  for (const [orchestrationOrder, environment] of ENVIRONMENTS.entries()) {
    await api.post('/api/environments', { repositoryIdentifier, orchestrationOrder, ...environment });
  }
  say(`project ${repositoryIdentifier} (${projectId}) with ${ENVIRONMENTS.map(({ name }) => name).join(' -> ')}`);

  const receiver = await startReceiver();
  const webhookIds: string[] = [];
  try {
    for (const event of EVENTS) {
      const { id, secret } = await api.post('/api/webhooks', {
        name: `demo ${event}`,
        event,
        provider: 'http',
        config: { url: `${receiver.url}/${event}`, filter: { 'data.repositoryIdentifier': repositoryIdentifier } },
      });
      webhookIds.push(id as string);
      receiver.trust(event, secret as string);
    }
    say(`webhooks for ${EVENTS.join(', ')} to ${receiver.url}`);
    const candidates = await travel(api, repository, { repositoryIdentifier, domain }, chosen);
    await account(receiver, {
      'release_candidate.created': chosen.length,
      'release_candidate.finalized': chosen.length,
    });
    const list = await api.get(
      `/api/release-candidates?${new URLSearchParams({ repositoryIdentifier, includeFinalized: 'true' })}`,
    );
    for (const { releaseName, status, statusChangedAt } of list.items as Record<string, string>[]) {
      say(`  ${releaseName?.padEnd(28)} ${status?.padEnd(12)} since ${statusChangedAt}`);
    }
    const listed = (name: string, from: string, to: string) =>
      git(
        repository,
        'log',
        '--format=%H',
        '--end-of-options',
        `${from}..${to}`,
        '--',
        ...(folders[name] === '.' ? [] : [folders[name] ?? '']),
      );
    await demoChanges(api, repositoryIdentifier, candidates, listed, say);
  } finally {
    for (const id of webhookIds) await api.delete(`/api/webhooks/${id}`);
    await receiver.close();
  }
  await demoDocuments(api, repository, `${repositoryIdentifier}/npm`, say);
  say('done; the project stays, look at it in the reference and at its lanes in the Temporal UI');
}

/** Deploys the candidates environment by environment; all but the newest stop before production and follow it. */
async function travel(
  api: Awaited<ReturnType<typeof demoClient>>,
  repository: string,
  place: { repositoryIdentifier: string; domain: string },
  chosen: readonly Milestone[],
): Promise<DemoCandidate[]> {
  const candidates: DemoCandidate[] = [];
  for (const [index, { releaseName, commitSha, tag, subject }] of chosen.entries()) {
    const { versions: artifacts } = await packagesAt(repository, commitSha);
    const candidate = await api.post('/api/release-candidates', {
      ...place,
      releaseName,
      commitSha,
      ...(tag !== undefined && { tag }),
      value: { artifacts, metadata: { subject } },
    });
    candidates.push({ id: candidate.id as string, releaseName, commitSha, artifacts });
    say(
      `candidate ${releaseName} at ${commitSha.slice(0, 8)} "${subject.slice(0, 60)}": ${Object.keys(artifacts).length} packages`,
    );
    const isNewest = index === chosen.length - 1;
    for (const { name } of isNewest ? ENVIRONMENTS : ENVIRONMENTS.slice(0, -1)) {
      if (name === 'production') await demoAnalysis(api, place, say);
      const compared = await api.post(`/api/release-candidates/${candidate.id}/compare`, { environmentName: name });
      const { packagesToInstall, packagesToUpdate, unchanged } = compared.comparison as Record<string, unknown[]>;
      const sentAt = performance.now();
      const outcome = await api.post('/api/release-candidates/release-event', {
        ...place,
        releaseName,
        environmentName: name,
        deploymentStatus: 'Success',
        executionId: createHash('sha256').update(`${releaseName}${name}`).digest('hex').slice(0, 16),
      });
      const ms = Math.round(performance.now() - sentAt);
      say(
        `  to ${name.padEnd(12)} ${packagesToInstall?.length} new, ${packagesToUpdate?.length} updated, ${unchanged?.length} unchanged -> ${outcome.newStatus} in ${ms} ms: ${outcome.message}`,
      );
    }
  }
  return candidates;
}

/** Waits for the webhooks that must come, and tells what came. */
async function account(receiver: DemoReceiver, expected: Record<string, number>): Promise<void> {
  const deadline = Date.now() + DELIVERY_MS;
  const isComplete = () => Object.entries(expected).every(([event, count]) => receiver.received(event).length >= count);
  while (!isComplete() && Date.now() < deadline) await sleep(50);
  for (const event of EVENTS) {
    const received = receiver.received(event);
    const delays = received.map(({ delayMs }) => delayMs).toSorted((a, b) => a - b);
    const middle = delays[Math.floor(delays.length / 2)];
    say(
      `received ${String(received.length).padStart(2)} x ${event}, signatures good${middle === undefined ? '' : `, ${middle} ms after the event (median)`}`,
    );
  }
  if (receiver.refused > 0) throw new OperatorError(`${receiver.refused} webhooks came with a wrong signature.`);
  if (!isComplete()) throw new OperatorError('Not all webhooks came in time.');
}

function ownerCredentials(): { email: string; password: string } {
  const { DEMO_EMAIL: email, DEMO_PASSWORD: password } = process.env;
  if (email && password) return { email, password };
  const file = resolve(process.env.DATA_DIR || '.data', 'owner.json');
  if (!existsSync(file))
    throw new OperatorError(
      `Nobody to sign in as: there is no ${file}. Start the service with npm start, or set DEMO_EMAIL and DEMO_PASSWORD.`,
    );
  return JSON.parse(readFileSync(file, 'utf8')) as { email: string; password: string };
}

try {
  await main();
} catch (error) {
  exitWith(error);
}
