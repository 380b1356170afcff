import { ApplicationFailure } from '@temporalio/common';
import { type CrmFailure, type CrmOrg, TOO_LARGE } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import type { CallOptions } from '../../../domain/orgs/crm-orgs/tokens/org-connections.ts';
import { keepOutput } from '../../../domain/delivery/flows/programs/run-programs.queries.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
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
import { goOn, goOnWithCalls, isUsedUp, standOf, waitForCalls } from './org-calls.ts';
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

/** A failure that passes is thrown, and the step is tried again; another one ends the run with what the platform says. */
function settled(username: string, failed: OrgCallFailed): RunOutcome {
  const { failure } = failed;
  if (!passes(failure)) return refusalOf(username, failed);
  throw ApplicationFailure.create({
    message: failureText(`Org ${username}`, failure),
    type: REFUSED,
    nonRetryable: false,
    ...(failure.kind === 'limited' && { nextRetryDelay: '5 minutes' }),
  });
}

const refusalOf = (username: string, { failure }: OrgCallFailed): RunOutcome => ({
  status: 'failed',
  error: failureText(`Org ${username}`, failure),
  ...(failure.code !== null && { result: { platformCode: failure.code } }),
});

/** How a run acts in its org. */
interface Acting extends Pick<CallOptions, 'signal'> {
  /** What the run began is stopped: that may use the calls which runs leave to people. */
  isCancel?: boolean;
}

/** Acts in the org of a run; what the org refuses is the outcome of the run. */
export const actInOrg = (
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  acting: Acting,
  work: (org: ActedOrg) => Promise<HeldOutcome>,
): Promise<HeldOutcome | Pending> => {
  const onFailure = async (username: string, failed: OrgCallFailed): Promise<RunOutcome | Pending> =>
    isUsedUp(failed.failure)
      ? waitForCalls(username, failed.failure, await standOf(deps, tenant, run))
      : settled(username, failed);
  const onNoOrg = ({ message }: DomainError): RunOutcome => ({ status: 'failed', error: message });
  return inOrg<HeldOutcome | Pending>(deps, tenant, run, { ...acting, onFailure, onNoOrg }, work);
};

/**
 * Takes a followed operation on in the org of its run. A failure that passes is waited for, for a day; another one ends
 * the run.
 * @param options `lookAt` says what a person looks at where the run ends although the org may go on; absent: nothing is said.
 */
export async function followInOrg(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  { lookAt, ...acting }: Acting & { lookAt?: string },
  work: (org: ActedOrg) => Promise<RunOutcome | Pending>,
): Promise<RunOutcome | Pending> {
  const onFailure = async (username: string, failed: OrgCallFailed): Promise<RunOutcome | Pending> => {
    const { failure } = failed;
    const stand = await standOf(deps, tenant, run);
    if (isUsedUp(failure)) return waitForCalls(username, failure, stand);
    const isLockedOut = failure.kind === 'auth_failed' && stand.goesOn;
    if ((!passes(failure) && !isLockedOut) || stand.isGivenUp) return refusalOf(username, failed);
    const againInSeconds = failure.kind === 'limited' || isLockedOut ? 300 : 60;
    return { againInSeconds, text: failureText(`Waiting for org ${username}`, failure) };
  };
  // An org whose credential was refused meanwhile goes on with what it does.
  const onNoOrg = async ({ message }: DomainError): Promise<RunOutcome | Pending> => {
    const { isGivenUp, goesOn } = await standOf(deps, tenant, run);
    return goesOn && !isGivenUp ? { againInSeconds: 300, text: message } : { status: 'failed', error: message };
  };
  try {
    const next = await inOrg(deps, tenant, run, { ...acting, onFailure, onNoOrg }, work);
    return lookAt === undefined ? next : await withLeftOpen(deps, tenant, run, next, lookAt);
  } catch (error) {
    if (error instanceof AskedTooSoon) return error.pending;
    if (error instanceof UnknownOutcome) return { status: 'failed', code: 'unknown_outcome', error: error.message };
    throw error;
  }
}

interface InOrg<Result> extends Acting {
  onFailure: (username: string, failed: OrgCallFailed) => Result | Promise<Result>;
  /** The org is not named, not registered, or refuses its credential. */
  onNoOrg: (error: DomainError) => Result | Promise<Result>;
}

async function inOrg<Result>(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  { signal, isCancel = false, onFailure, onNoOrg }: InOrg<Result>,
  work: (org: ActedOrg) => Promise<Result>,
): Promise<Result | RunOutcome> {
  const { actingAs, crm } = deps;
  // In the name of whoever asked: a token with projects reaches no other orgs.
  const named = await refusedBy(() => actingAs({ ...run.requestedBy, ...tenant })((tx) => orgOfRun(tx, run)));
  if (named instanceof DomainError) return onNoOrg(named);
  const { id: orgId, username, instanceUrl, platformOrgId } = named;
  try {
    const calls = crm.connections.callOrg({ ...tenant, orgId }, { isRun: !isCancel, signal });
    const hasWaited = run.status === 'waiting_org_calls' && !isCancel;
    const waitsStill = hasWaited && !(await goOnWithCalls(deps, tenant, run, calls));
    const done = await work({ orgId, username, instanceUrl, platformOrgId, calls });
    if (waitsStill) await goOn(deps, tenant, run);
    return done;
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
