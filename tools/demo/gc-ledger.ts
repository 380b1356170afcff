import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { DemoCrm, DemoOrg } from './crm-simulator.ts';
import { waitFor } from './wait.ts';

type Say = (text: string) => void;

interface Entry {
  componentType: string;
  fullName: string;
  status: string;
  history: { from: string | null; to: string; cause: string; environment: string | null }[];
}
interface Check {
  id: string;
  status: string;
  environments: { environment: string; present: number; absent: number; unknown: number; error: string | null }[];
  error: string | null;
}

const BRANCH = 'main';
const PACKAGE = 'HarbourPricing';
export const KEPT = 'Tariff';
const CHECK_MS = 60_000;

export interface LedgerBranch {
  crm: DemoCrm;
  production: DemoOrg;
  sandbox: DemoOrg;
  repositoryIdentifier: string;
  /** A class that no other project of the tenant has, which would own it otherwise. */
  dropped: string;
}

/** The classes of the demo's orgs, by their paths. */
export const classFiles = (dropped: string): [path: string, content: string][] =>
  [KEPT, dropped, 'Berth'].map((name) => [`classes/${name}.cls`, `public with sharing class ${name} {\n}\n`]);

/**
 * Drops a class from the manifest of a package, and follows it: detected, still in both orgs, in the manifest of
 * deletions, deleted in production (reclaimed), deleted in the sandbox, too (gone from the ledger).
 */
export async function showLedger(
  api: DemoClient,
  { crm, production, sandbox, repositoryIdentifier, dropped }: LedgerBranch,
  say: Say,
): Promise<void> {
  const at = { repositoryIdentifier, branch: BRANCH };
  const query = new URLSearchParams(at).toString();
  await publishManifest(api, repositoryIdentifier, { members: [KEPT], version: 1 });
  await api.post('/api/gc-ledger/events', {
    ...at,
    events: [KEPT, dropped].map((fullName) => ({
      type: 'detected',
      packageName: PACKAGE,
      componentType: 'ApexClass',
      fullName,
    })),
  });
  say(`GC ledger: ${PACKAGE} on ${BRANCH} was reported to have dropped ${KEPT} and ${dropped}, and still has ${KEPT}`);
  const entries = async () => (await api.get(`/api/gc-ledger?${query}`)).items as Entry[];
  for (const { fullName, status } of await entries()) say(`  ${fullName}: ${status}`);
  await check(api, at, say);
  say('  destructiveChanges.xml:');
  const manifest = await api.text(`/api/gc-ledger/destructive-changes?${query}&format=xml`);
  for (const line of manifest.trimEnd().split('\n')) say(`    | ${line}`);

  await crm.removeFile(production, `classes/${dropped}.cls`);
  say(`  ${dropped} is deleted in production, as the manifest would; the sandbox still has it`);
  await check(api, at, say);
  for (const entry of await entries()) if (entry.fullName === dropped) sayHistory(entry, say);

  await crm.removeFile(sandbox, `classes/${dropped}.cls`);
  say(`  ${dropped} is deleted in the sandbox, too`);
  await check(api, at, say);
  const isGone = (await entries()).every(({ fullName }) => fullName !== dropped);
  say(`  the ledger ${isGone ? 'no longer has it; the audit trail keeps its history' : 'still has it'}`);
}

/**
 * Publishes the manifest of the package, as its pipeline does.
 * @param version of the manifest that it takes the place of.
 */
export async function publishManifest(
  api: DemoClient,
  repositoryIdentifier: string,
  { members, version }: { members: string[]; version?: number },
): Promise<void> {
  const { results } = await api.post('/api/doc-store/bulk?store=packages', {
    documents: [
      {
        collection: `manifests/${repositoryIdentifier}:${BRANCH}`,
        key: PACKAGE,
        value: { payload: { Package: { types: [{ name: 'ApexClass', members }], version: '66.0' } } },
        ...(version !== undefined && { version }),
      },
    ],
  });
  for (const { error } of results as { error?: unknown }[])
    if (error) throw new OperatorError(`The manifest was refused: ${JSON.stringify(error)}`);
}

/** Has the service ask the orgs, and says what they have. */
async function check(api: DemoClient, at: { repositoryIdentifier: string; branch: string }, say: Say): Promise<void> {
  const { id } = (await api.post('/api/gc-ledger/check', at)) as unknown as Check;
  const ended = await waitFor(
    async () => (await api.get(`/api/gc-ledger/check/${id}`)) as unknown as Check,
    ({ status }) => status === 'completed' || status === 'failed',
    CHECK_MS,
  );
  if (!ended) throw new OperatorError('The orgs were not checked in time.');
  const found = ended.environments.map(
    ({ environment, present, absent, unknown, error }) =>
      `${environment} ${present} present, ${absent} absent, ${unknown} unknown${error === null ? '' : ` (${error})`}`,
  );
  say(`  the orgs were asked: ${found.join('; ')}${ended.error === null ? '' : `: ${ended.error}`}`);
}

function sayHistory({ fullName, status, history }: Entry, say: Say): void {
  const steps = history.map(
    ({ to, cause, environment }) => `${to} (${cause}${environment === null ? '' : ` of ${environment}`})`,
  );
  say(`  ${fullName}: ${status}; its history: ${steps.join(', ')}`);
}
