import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { showCodeAnalysis } from './demo/analyze.ts';
import { removeMade } from './demo/cleanup.ts';
import {
  counted,
  type DemoCandidate,
  type DemoProject,
  sayTally,
  showChangelogs,
  showDifference,
  showNotes,
  type Tally,
  waitForHistory,
} from './demo/changes.ts';
import { type DemoClient, demoClient } from './demo/client.ts';
import { showCollaboration } from './demo/collaborate.ts';
import { showOrgs } from './demo/crm-orgs.ts';
import { showDeployment } from './demo/deploy.ts';
import { demoDocuments } from './demo/documents.ts';
import { makeFixture } from './demo/fixture.ts';
import { showFreeze } from './demo/freeze.ts';
import { findHotfix, type Hotfix } from './demo/hotfix.ts';
import { findInstance } from './demo/instance.ts';
import { demoJournal, type DemoJournal, earlierJournals } from './demo/journal.ts';
import { cutCandidate, deployBeforeProduction, deployToProduction, ENVIRONMENTS } from './demo/journey.ts';
import { type DemoReceiver, startReceiver } from './demo/receiver.ts';
import { type DemoRepository, readRepository } from './demo/repository.ts';
import { showMatrix } from './demo/matrix.ts';
import { showRehearsal } from './demo/rehearse.ts';
import { noteTemporaryFolders } from './demo/temporary-folders.ts';
import { createVersions } from './demo/versions.ts';
import { exitWith, OperatorError } from './operator-error.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EVENTS = [
  'release_candidate.created',
  'deployment.completed',
  'release_candidate.finalized',
  'release.published',
] as const;
/** How commits name work items: `SHOP-12` or `W-1234567`, and issues by number. */
const WORK_ITEMS = [
  '\\b[A-Z][A-Z0-9]{0,9}-[0-9]{1,9}\\b',
  '(?i)\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?)[ :]+(#[0-9]{1,9})\\b',
];
const DELIVERY_MS = 15_000;

const startedAt = performance.now();
const say = (text: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(2).padStart(7)} s  ${text}`);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      every: { type: 'string' },
      collaborate: { type: 'boolean' },
      analyze: { type: 'boolean' },
      deploy: { type: 'boolean' },
      pipeline: { type: 'boolean' },
      rehearse: { type: 'boolean' },
      session: { type: 'boolean' },
      console: { type: 'boolean' },
      picture: { type: 'string' },
      clean: { type: 'boolean' },
    },
  });
  const everyN = values.every === undefined ? undefined : Number(values.every);
  if (everyN !== undefined && !(Number.isInteger(everyN) && everyN > 0))
    throw new OperatorError('--every takes a number of commits.');
  const [given] = positionals;
  if (given !== undefined && !existsSync(given)) throw new OperatorError(`There is no folder ${resolve(given)}.`);
  const { url, credentials, found, dataDir } = findInstance(values.url, process.env);
  const suffix = randomBytes(3).toString('hex');
  const journal = demoJournal(dataDir, suffix, url);
  const api = await demoClient(url, credentials, journal);
  say(`the service at ${found}`);
  if (values.clean) return clean(api, earlierJournals(dataDir, url));
  const place = { url, suffix, given: given && resolve(given), everyN };
  noteTemporaryFolders((folder) => journal.note({ folder, stays: true }));
  let removing: Promise<void> | undefined;
  const removeBroken = () => {
    removing ??= sayRemoved(removeMade(api, journal, 'broken'));
    return removing;
  };
  // Under npm, one Ctrl-C arrives twice.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void removeBroken().finally(() => process.exit(130)));
  try {
    if (values.collaborate) await showCollaboration(api, place, say);
    else if (values.rehearse) await showRehearsal(api, place, say);
    else if (values.analyze) await showCodeAnalysis(api, place, say);
    else if (values.deploy) await showDeployment(api, place, say);
    else if (values.console) {
      const address = await showMatrix(api, place, say);
      if (values.picture !== undefined) await savePicture(api, address, resolve(values.picture));
    } else if (values.pipeline) {
      // It builds the command line, whose tools the image leaves out.
      const { showPipeline } = await import('./demo/pipeline.ts');
      await showPipeline(api, place, say);
    } else if (values.session) {
      // It needs a browser, which the image leaves out.
      const { showSession } = await import('./demo/session.ts');
      await showSession(api, place, say);
    } else await showReleases(api, place);
  } finally {
    await removeBroken();
  }
  say('done; what stays to be looked at is removed by: npm run demo -- --clean');
}

async function savePicture(api: DemoClient, address: string, file: string): Promise<void> {
  // It needs a browser, which the image leaves out.
  const { takePicture } = await import('./demo/picture.ts');
  await takePicture(api, { address, file });
  say(`its picture: ${file}`);
}

/** Says what of that could not be removed. */
async function sayRemoved(removed: Promise<string[]>): Promise<void> {
  for (const failure of await removed) say(`not removed: ${failure}`);
}

/** Removes everything that earlier demos left. */
async function clean(api: DemoClient, journals: readonly DemoJournal[]): Promise<void> {
  const count = journals.reduce((sum, { made }) => sum + made().length, 0);
  for (const journal of journals) await sayRemoved(removeMade(api, journal, 'all'));
  const left = journals.reduce((sum, { made }) => sum + made().length, 0);
  say(`removed ${counted(count - left, 'thing')} that ${counted(journals.length, 'demo')} had left`);
}

/** A repository's candidates on their way to production, and what can be asked about them. */
async function showReleases(
  api: DemoClient,
  {
    url,
    suffix,
    given,
    everyN,
  }: { url: string; suffix: string; given: string | undefined; everyN: number | undefined },
): Promise<void> {
  const read = await readRepository(given ?? (await makeFixture()), everyN);
  const { path, hotfix } = await findHotfix(read);
  const repository = { ...read, path };
  sayRepository(read, repository, hotfix);
  const project = await makeProject(api, repository, suffix);
  const receiver = await startReceiver();
  try {
    await subscribe(api, project, receiver);
    if (await waitForHistory(api, project.repositoryIdentifier, say)) await show(api, project, receiver, hotfix);
    await showOrgs(api, { url, suffix }, receiver, say);
  } finally {
    await receiver.close();
  }
  const folder = given ?? ROOT;
  if (existsSync(resolve(folder, 'node_modules')))
    await demoDocuments(api, folder, `${project.repositoryIdentifier}/npm`, say);
  say('the project stays: look at it in the reference, and at its workflows in the Temporal UI');
}

function sayRepository(read: DemoRepository, { path, packages }: DemoRepository, hotfix: Hotfix | undefined): void {
  say(`${read.original}: ${read.commits} commits on its default branch ${read.defaultBranch}`);
  if (read.path !== read.original) say(`  a copy of it, with all branches of its remote: ${read.path}`);
  if (path !== read.path) say(`  a copy of it, in which a hotfix is made: ${path}`);
  say(`  ${counted(packages.length, 'package')} of ${read.packagesFrom}`);
  for (const { name, path: folder, dependencies } of packages.slice(0, 8))
    say(
      `    ${name} in ${folder || 'all folders'}${dependencies.length > 0 ? `, needs ${dependencies.join(', ')}` : ''}`,
    );
  if (packages.length > 8) say(`    and ${packages.length - 8} more`);
  say(`  candidates: ${read.kind}`);
  if (hotfix)
    say(`  hotfix: branch ${hotfix.branch} at ${hotfix.commitSha.slice(0, 8)}${hotfix.isMade ? ', made' : ''}`);
}

async function makeProject(api: DemoClient, repository: DemoRepository, suffix: string): Promise<DemoProject> {
  const repositoryIdentifier = `demo/${repository.name.replaceAll(/[^\w.-]/g, '-')}-${suffix}`;
  const domain = 'main';
  const { id } = await api.post('/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: repository.path,
    defaultBranch: repository.defaultBranch,
    configuration: {
      displayName: repository.name,
      domains: [domain],
      autoReleaseFinalization: true,
      packagePaths: Object.fromEntries(repository.packages.map(({ name, path }) => [name, path || '.'])),
      workItems: { workItemFilters: WORK_ITEMS },
    },
  });
  for (const [orchestrationOrder, environment] of ENVIRONMENTS.entries())
    await api.post('/api/environments', { repositoryIdentifier, orchestrationOrder, ...environment });
  say(`project ${repositoryIdentifier} (${id as string}) with ${ENVIRONMENTS.map(({ name }) => name).join(' -> ')}`);
  return { repositoryIdentifier, domain, repository };
}

async function subscribe(api: DemoClient, project: DemoProject, receiver: DemoReceiver): Promise<void> {
  for (const event of EVENTS) {
    const { secret } = await api.post('/api/webhooks', {
      name: `demo ${event}`,
      event,
      provider: 'http',
      config: {
        url: `${receiver.url}/${event}`,
        filter: { 'data.repositoryIdentifier': project.repositoryIdentifier },
      },
    });
    receiver.trust(event, secret as string);
  }
  say(`webhooks for ${EVENTS.join(', ')} to ${receiver.url}`);
}

/** Candidates of all milestones, the newest of which goes to production, and what came of it. */
async function show(
  api: DemoClient,
  project: DemoProject,
  receiver: DemoReceiver,
  hotfix: Hotfix | undefined,
): Promise<void> {
  const { milestones } = project.repository;
  const versionsAt = createVersions(project.repository);
  const candidates: DemoCandidate[] = [];
  for (const milestone of milestones) {
    const candidate = await cutCandidate(api, project, milestone, await versionsAt(milestone), say);
    candidates.push(candidate);
    await deployBeforeProduction(api, project, candidate, say);
  }
  const newest = candidates.at(-1);
  if (!newest) return;
  await deployToProduction(api, project, newest, say);
  await account(receiver, {
    'release_candidate.created': candidates.length,
    'release_candidate.finalized': candidates.length,
    'release.published': 1,
  });
  await sayStatuses(api, project);
  const tally: Tally = { changelogs: 0, equal: 0, different: [], notHeld: new Map() };
  await showChangelogs(api, project, candidates, tally, say);
  let fixed: DemoCandidate | undefined;
  if (hotfix) {
    const { branch, commitSha } = hotfix;
    const releaseName = branch.replaceAll('/', '-');
    const milestone = { releaseName, commitSha, tags: [], subject: `The tip of ${branch}`, branch };
    fixed = await cutCandidate(api, project, milestone, await versionsAt(milestone, { isFix: true }), say);
    await showDifference(api, project, [...candidates, fixed], { from: newest, to: fixed }, tally, say);
  }
  sayTally(tally, say);
  await showNotes(api, project, newest.releaseName, say);
  await showFreeze(api, project, { candidate: newest, hotfix: fixed }, say);
}

async function sayStatuses(api: DemoClient, { repositoryIdentifier }: DemoProject): Promise<void> {
  const list = await api.get(
    `/api/release-candidates?${new URLSearchParams({ repositoryIdentifier, includeFinalized: 'true' })}`,
  );
  for (const { releaseName, status, statusChangedAt, supersededBy } of list.items as Record<string, string | null>[]) {
    const along = supersededBy ? `, along with ${supersededBy}` : '';
    say(`  ${releaseName?.padEnd(28)} ${status?.padEnd(12)} since ${statusChangedAt}${along}`);
  }
}

/** Waits for the webhooks that must come, and says what came. */
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

try {
  await main();
} catch (error) {
  exitWith(error);
}
