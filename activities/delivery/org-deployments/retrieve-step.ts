import { buffer } from 'node:stream/consumers';
import { sourceOrgOf } from '../../../domain/delivery/org-deployments/change-set-offers.ts';
import { MANIFEST_BYTES_MAX, manifestOfChangeSet } from '../../../domain/delivery/org-deployments/change-set-rules.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { objectKey } from '../../../domain/kernel/objects/object-key-rules.ts';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import type { SourceRefusal } from '../../../domain/delivery/source/source-build.port.ts';
import type { RetrievedArchive } from '../../../domain/orgs/crm/crm-metadata.port.ts';
import type { CrmFailure, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import { storeZip } from '../source/store-zip.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { PASSES } from '../org-steps/act-in-org.ts';
import { type OrgWork, move } from '../org-steps/org-work.ts';
import type { Built } from './build-step.ts';

/** What is retrieved, and from where. */
export interface RetrieveIntent {
  changeSetName: string;
  sourceOrg: string;
}

/** A retrieval changes nothing: it is asked for anew, so often, within so long. */
const ATTEMPTS_MAX = 10;
const MAX_MS = 2 * 3_600_000;

/** Retrieves a change set by its name from the org in which it was made, as what its components are there now. */
export async function retrieveStep(work: OrgWork, step: StepRow, signal: AbortSignal): Promise<Pending> {
  const { deps, tenant, run } = work;
  const { sourceOrg, changeSetName } = step.intent as unknown as RetrieveIntent;
  // In the name of whoever asked: a token with projects reaches no other orgs.
  const source = await deps.actingAs({ ...run.requestedBy, ...tenant })((tx) => sourceOrgOf(tx, sourceOrg));
  const calls = deps.crm.connections.callOrg({ ...tenant, orgId: source.id }, { isRun: true, signal });
  const text = `Retrieving ${changeSetName} from ${source.username}`;
  const failed = (failure: CrmFailure) => again(work, step, failureText(`Org ${source.username}`, failure), failure);
  if (step.externalId === null) {
    const begun = await calls.startRetrieve({ packageName: changeSetName });
    if (!begun.isOk) return failed(begun);
    await move(work, step, { state: 'begun', externalId: begun.value.retrieveId, detail: text });
    return { againInSeconds: 5, text };
  }
  const status = await calls.retrieveStatus(step.externalId);
  if (!status.isOk) return failed(status);
  const { state, errorMessage } = status.value;
  if (state === 'failed') return refuse(work, step, `The org ${source.username} did not retrieve it: ${errorMessage}`);
  const sinceMs = deps.now().getTime() - new Date(run.startedAt ?? deps.now()).getTime();
  if (state !== 'succeeded')
    return sinceMs > MAX_MS
      ? refuse(work, step, `The org ${source.username} did not retrieve it within two hours`)
      : { againInSeconds: 10, text };
  return store(work, step, { calls, failed, username: source.username });
}

async function store(
  work: OrgWork,
  step: StepRow,
  { calls, failed, username }: { calls: CrmOrg; failed: (failure: CrmFailure) => Promise<Pending>; username: string },
): Promise<Pending> {
  const { deps, tenant, run } = work;
  const { changeSetName } = step.intent as unknown as RetrieveIntent;
  const object = objectKey(tenant.tenantId, 'source-builds', `${run.id}.zip`);
  // The org deletes what was fetched: a download that fails needs a new retrieval.
  const fetched = await calls.download(step.externalId ?? '', (archive) =>
    keep(archive, changeSetName, { deps, object }),
  );
  if (!fetched.isOk) return failed(fetched);
  const kept = fetched.value;
  if (!kept.isOk) return refuse(work, step, kept.reason);
  const result: Built = {
    object,
    form: 'whole',
    reason: `It is what the components of ${changeSetName} are in ${username} now`,
    deletions: 0,
    pending: [],
    undeletable: [],
    comparedWith: null,
    ...kept.value,
  };
  await move(work, step, { state: 'succeeded', detail: result.reason, result: { ...result } });
  return { againInSeconds: 0, text: result.reason };
}

type Kept = Pick<Built, 'bytes' | 'components' | 'warnings'>;
const not = (reason: string): SourceRefusal => ({ isOk: false, reason });

async function keep(
  { entries, messages }: RetrievedArchive,
  name: string,
  { deps, object }: { deps: Pick<OrgWork['deps'], 'objects'>; object: string },
): Promise<Answer<Kept, SourceRefusal>> {
  const said = messages.slice(0, 20).map(({ fileName, problem }) => `${fileName}: ${problem}`);
  const manifest = entries
    .filter(({ path }) => path === 'package.xml' || path.endsWith('/package.xml'))
    .toSorted((a, b) => a.path.length - b.path.length)[0];
  if (!manifest || manifest.sizeBytes > MANIFEST_BYTES_MAX) return not(`What the org gave of ${name} has no manifest`);
  const read = manifestOfChangeSet((await buffer(manifest.content())).toString());
  if (!read) return not(`What the org gave of ${name} has no manifest that can be read`);
  if (read.components === 0) return not([`The org has no components of a change set ${name}`, ...said].join('; '));
  const folder = manifest.path.slice(0, -'package.xml'.length);
  const files = entries
    .filter((entry) => entry !== manifest && entry.path.startsWith(folder))
    .map(({ path, content }) => ({ name: path.slice(folder.length), content }));
  const stored = await storeZip(deps.objects, object, [
    { name: 'package.xml', content: () => [Buffer.from(read.xml)] },
    ...files,
  ]);
  return stored.isOk
    ? { isOk: true, value: { bytes: stored.value, components: read.components, warnings: said } }
    : stored;
}

async function refuse(work: OrgWork, step: StepRow, error: string): Promise<Pending> {
  await move(work, step, { state: 'failed', error });
  return { againInSeconds: 0, text: error };
}

async function again(work: OrgWork, step: StepRow, error: string, { kind }: CrmFailure): Promise<Pending> {
  const { attempts = 0 } = step.result as { attempts?: number };
  if (!PASSES[kind] || attempts >= ATTEMPTS_MAX) return refuse(work, step, error);
  await move(work, step, { state: 'planned', detail: error, result: { attempts: attempts + 1 } });
  return { againInSeconds: 60, text: error };
}
