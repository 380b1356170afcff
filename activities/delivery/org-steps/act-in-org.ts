import { ApplicationFailure } from '@temporalio/common';
import { type CrmFailure, type CrmOrg, TOO_LARGE } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import type { CallOptions } from '../../../domain/orgs/crm-orgs/tokens/org-connections.ts';
import { keepOutput } from '../../../domain/delivery/flows/programs/run-programs.queries.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { orgOfRun } from '../../../domain/delivery/org-steps/org-of-run.ts';
import { objectKey } from '../../../domain/kernel/objects/object-key-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { REFUSED } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { Deps } from '../../deps.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { HeldOutcome, Pending } from '../flows/operations.activities.ts';
import { AskedTooSoon, UnknownOutcome } from './begin-once.ts';
import { withLeftOpen } from './left-open.ts';
import { OrgCallFailed } from './org-call-failed.ts';

/** An org in which a run acts. */
export interface ActedOrg {
  orgId: string;
  username: string;
  instanceUrl: string;
  /** The platform's own id of it, as far as that is known. */
  platformOrgId: string | null;
  calls: CrmOrg;
}

/** What passes by itself; a call that failed so may have been done. */
export const PASSES: Readonly<Record<CrmFailure['kind'], boolean>> = {
  limited: true,
  unreachable: true,
  timeout: true,
  malformed: true,
  auth_failed: false,
  refused: false,
  not_found: false,
};
/** Whether asking again may be answered otherwise. */
const passes = ({ kind, code }: CrmFailure): boolean => PASSES[kind] && code !== TOO_LARGE;

/** Until calls of the day are free again. */
const LIMITED_RETRY = '5 minutes';

/** A failure that passes is thrown, and the step is tried again; another one ends the run with what the platform says. */
function settled(username: string, failed: OrgCallFailed): RunOutcome {
  const { failure } = failed;
  if (!passes(failure)) return refusalOf(username, failed);
  const error = failureText(`Org ${username}`, failure);
  throw ApplicationFailure.create({
    message: error,
    type: REFUSED,
    nonRetryable: false,
    ...(failure.kind === 'limited' && { nextRetryDelay: LIMITED_RETRY }),
  });
}

const refusalOf = (username: string, { failure }: OrgCallFailed): RunOutcome => ({
  status: 'failed',
  error: failureText(`Org ${username}`, failure),
  ...(failure.code !== null && { result: { platformCode: failure.code } }),
});

/** Acts in the org of a run; what the org refuses is the outcome of the run. */
export const actInOrg = (
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  options: Pick<CallOptions, 'signal'>,
  work: (org: ActedOrg) => Promise<HeldOutcome>,
): Promise<HeldOutcome> => {
  const onNoOrg = ({ message }: DomainError): RunOutcome => ({ status: 'failed', error: message });
  return inOrg(deps, tenant, run, { ...options, onFailure: settled, onNoOrg }, work);
};

/** A followed operation is given up where its org has been away for so long since its steps last moved. */
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

/**
 * Takes a followed operation on in the org of its run. A failure that passes is waited for, for a day; another one ends
 * the run.
 * @param options `lookAt` says what a person looks at where the run ends although the org may go on; absent: nothing is said.
 */
export async function followInOrg(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  { signal, lookAt }: Pick<CallOptions, 'signal'> & { lookAt?: string },
  work: (org: ActedOrg) => Promise<RunOutcome | Pending>,
): Promise<RunOutcome | Pending> {
  const onFailure = async (username: string, failed: OrgCallFailed): Promise<RunOutcome | Pending> => {
    const { failure } = failed;
    const { isGivenUp, goesOn } = await standOf(deps, tenant, run);
    const isLockedOut = failure.kind === 'auth_failed' && goesOn;
    if ((!passes(failure) && !isLockedOut) || isGivenUp) return refusalOf(username, failed);
    const againInSeconds = failure.kind === 'limited' || isLockedOut ? 300 : 60;
    return { againInSeconds, text: failureText(`Waiting for org ${username}`, failure) };
  };
  // An org whose credential was refused meanwhile goes on with what it does.
  const onNoOrg = async ({ message }: DomainError): Promise<RunOutcome | Pending> => {
    const { isGivenUp, goesOn } = await standOf(deps, tenant, run);
    return goesOn && !isGivenUp ? { againInSeconds: 300, text: message } : { status: 'failed', error: message };
  };
  try {
    const next = await inOrg(deps, tenant, run, { signal, onFailure, onNoOrg }, work);
    return lookAt === undefined ? next : await withLeftOpen(deps, tenant, run, next, lookAt);
  } catch (error) {
    if (error instanceof AskedTooSoon) return error.pending;
    if (error instanceof UnknownOutcome) return { status: 'failed', code: 'unknown_outcome', error: error.message };
    throw error;
  }
}

/** Whether an org does, or may do, what a run asked for, and whether nothing has moved for too long. */
async function standOf({ reads, now }: Deps, tenant: TenantKey, { id, startedAt }: RunContext) {
  const steps = await stepsOfRun(reads.as(systemActor(tenant, 'flow')), id);
  // What is only asked for again and again does not count.
  const moved = steps.filter(({ state }) => state !== 'planned' && state !== 'asked');
  const last = Math.max(
    startedAt === null ? 0 : Date.parse(startedAt),
    ...moved.map(({ updatedAt }) => Date.parse(updatedAt)),
  );
  return {
    isGivenUp: last > 0 && now().getTime() - last > GIVEN_UP_AFTER_MS,
    goesOn: steps.some(({ state }) => state === 'begun' || state === 'asked'),
  };
}

interface InOrg<Result> extends Pick<CallOptions, 'signal'> {
  onFailure: (username: string, failed: OrgCallFailed) => Result | Promise<Result>;
  /** The org is not named, not registered, or refuses its credential. */
  onNoOrg: (error: DomainError) => Result | Promise<Result>;
}

async function inOrg<Result>(
  { actingAs, crm }: Deps,
  tenant: TenantKey,
  run: RunContext,
  { signal, onFailure, onNoOrg }: InOrg<Result>,
  work: (org: ActedOrg) => Promise<Result>,
): Promise<Result | RunOutcome> {
  // In the name of whoever asked: a token with projects reaches no other orgs.
  const named = await refusedBy(() => actingAs({ ...run.requestedBy, ...tenant })((tx) => orgOfRun(tx, run)));
  if (named instanceof DomainError) return onNoOrg(named);
  const { id: orgId, username, instanceUrl, platformOrgId } = named;
  try {
    const calls = crm.connections.callOrg({ ...tenant, orgId }, { isRun: true, signal });
    return await work({ orgId, username, instanceUrl, platformOrgId, calls });
  } catch (error) {
    if (error instanceof OrgCallFailed) return onFailure(username, error);
    if (isRefusal(error)) return { status: 'failed', error: error.message };
    throw error;
  }
}

/** What a rule refuses for good. */
export const isRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.code !== 'unavailable';

/** What a rule refuses is a value. */
async function refusedBy<Value>(work: () => Promise<Value>): Promise<Value | DomainError> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

/** What a run keeps in its row of what it printed. */
const TAIL_CHARACTERS = 16_000;

/** Keeps what a run did, line by line, as the output of its program would be kept; answers what its result says of it. */
export async function keepLines(
  { actingAs, objects }: Pick<Deps, 'actingAs' | 'objects'>,
  tenant: TenantKey,
  runId: string,
  lines: readonly string[],
): Promise<{ outputBytes: number }> {
  const text = lines.map((line) => `${line}\n`).join('');
  const isLong = text.length > TAIL_CHARACTERS;
  const object = isLong ? objectKey(tenant.tenantId, 'flow-output', `${runId}.log`) : null;
  if (object !== null) await objects.put(object, bytesOf(text), 'text/plain');
  const tail = isLong ? text.slice(text.indexOf('\n', text.length - TAIL_CHARACTERS) + 1) : text;
  await actingAs(systemActor(tenant, 'flow'))((tx) => keepOutput(tx, runId, { tail, object }));
  return { outputBytes: Buffer.byteLength(text) };
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
