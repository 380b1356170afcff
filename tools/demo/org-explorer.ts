import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { DemoCrm, DemoOrg } from './crm-simulator.ts';
import { waitFor } from './wait.ts';

type Say = (text: string) => void;

interface Metadata {
  jobId: string | null;
  data: {
    types: { metadataType: string; count: number }[];
    lastSync: {
      jobId: string;
      status: string;
      durationMs: number | null;
      componentsCount: number;
      filesRetrieved: number;
      message: string | null;
    } | null;
  } | null;
}
interface Change {
  metadataType: string;
  memberName: string;
  change: string;
  modifiedBy: string | null;
  modifiedAt: string | null;
}
interface Difference {
  metadataType: string;
  memberName: string;
  difference: string;
}

const EXPLORER = '/api/orgs/explorer';
const SYNC_MS = 120_000;
const CHANGED = 'Berth';

/**
 * Reads the metadata of two orgs, changes a class in one of them, and shows what the next sync found changed and by whom,
 * how the orgs differ, and what is in no package of the branch.
 */
export async function showExplorer(
  api: DemoClient,
  place: { crm: DemoCrm; production: DemoOrg; sandbox: DemoOrg; repositoryIdentifier: string },
  say: Say,
): Promise<void> {
  const { crm, production, sandbox, repositoryIdentifier } = place;
  const ofOrg = ({ username: orgUsername }: DemoOrg) => ({ repositoryIdentifier, orgUsername });
  say('org explorer: the metadata of both orgs are read');
  for (const org of [production, sandbox]) await sync(api, ofOrg(org), say);
  await crm.writeFile(
    production,
    `classes/${CHANGED}.cls`,
    `public with sharing class ${CHANGED} {\n    // Changed in production\n}\n`,
    'Bo Builder',
  );
  say(`  Bo Builder changes the class ${CHANGED} in production`);
  await sync(api, ofOrg(production), say);
  const changes = (await api.get(
    `${EXPLORER}/changes?${new URLSearchParams({ orgUsername: production.username })}`,
  )) as { items?: Change[] };
  for (const { metadataType, memberName, change, modifiedBy, modifiedAt } of changes.items ?? [])
    say(`  drift: ${metadataType} ${memberName} ${change} by ${modifiedBy} at ${modifiedAt}`);
  const compared = await api.get(
    `${EXPLORER}/compare?${new URLSearchParams({ left: production.username, right: sandbox.username })}`,
  );
  say(`  production against the sandbox: ${listed(compared.items as Difference[])}`);
  const query = new URLSearchParams({ ...ofOrg(production), branch: 'main' });
  const { items } = await api.get(`${EXPLORER}/unpackaged?${query}`);
  const unpackaged = (items as Difference[]).map(({ metadataType, memberName }) => `${metadataType} ${memberName}`);
  say(`  in production, but in no manifest of a package on main: ${unpackaged.join(', ') || 'nothing'}`);
}

const listed = (items: readonly Difference[]): string =>
  items.map(({ metadataType, memberName, difference }) => `${metadataType} ${memberName} ${difference}`).join(', ') ||
  'the same';

/** Has an org's metadata read, and says what came of it. */
async function sync(
  api: DemoClient,
  place: { repositoryIdentifier: string; orgUsername: string },
  say: Say,
): Promise<void> {
  const { jobId } = await api.post(`${EXPLORER}/metadata/refresh`, place);
  const metadata = await waitFor(
    async () => (await api.get(`${EXPLORER}/metadata?${new URLSearchParams(place)}`)) as unknown as Metadata,
    ({ data }) => data?.lastSync?.jobId === jobId,
    SYNC_MS,
  );
  const done = metadata?.data;
  if (!done?.lastSync) throw new OperatorError(`The metadata of ${place.orgUsername} were not read in time.`);
  const { status, message, durationMs, componentsCount, filesRetrieved } = done.lastSync;
  if (status !== 'succeeded') throw new OperatorError(`The metadata of ${place.orgUsername} were not read: ${message}`);
  const types = done.types.flatMap(({ metadataType, count }) => (count > 0 ? [`${count} ${metadataType}`] : []));
  say(
    `  ${place.orgUsername}: ${componentsCount} components (${types.join(', ')}), ${filesRetrieved} files retrieved in ${durationMs} ms`,
  );
}
