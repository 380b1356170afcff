import { ApplicationFailure } from '@temporalio/common';
import type { CrmAnswer, CrmFailure, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import type { CallOptions } from '../../../domain/orgs/crm-orgs/tokens/org-connections.ts';
import { keepOutput } from '../../../domain/delivery/flows/programs/run-programs.queries.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { orgOfRun } from '../../../domain/delivery/org-people/org-of-run.ts';
import { objectKey } from '../../../domain/kernel/objects/object-key-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { REFUSED } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { Deps } from '../../deps.ts';
import type { HeldOutcome } from '../flows/operations.activities.ts';

/** The org did not do what it was called for. */
export class OrgCallFailed extends Error {
  readonly failure: CrmFailure;
  constructor(failure: CrmFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** What an org answered; throws within `actInOrg`, which ends or repeats the step. */
export function answered<Value>(answer: CrmAnswer<Value>): Value {
  if (answer.isOk) return answer.value;
  throw new OrgCallFailed(answer);
}

/** An org in which a run acts. */
export interface ActedOrg {
  orgId: string;
  username: string;
  calls: CrmOrg;
}

const PASSES: Readonly<Record<CrmFailure['kind'], boolean>> = {
  limited: true,
  unreachable: true,
  timeout: true,
  malformed: true,
  auth_failed: false,
  refused: false,
  not_found: false,
};
/** Until calls of the day are free again. */
const LIMITED_RETRY = '5 minutes';

/** A failure that passes is thrown, and the step is tried again; another one ends the run with what the platform says. */
function settled(username: string, { failure }: OrgCallFailed): HeldOutcome {
  const error = failureText(`Org ${username}`, failure);
  if (!PASSES[failure.kind])
    return { status: 'failed', error, ...(failure.code !== null && { result: { platformCode: failure.code } }) };
  throw ApplicationFailure.create({
    message: error,
    type: REFUSED,
    nonRetryable: false,
    ...(failure.kind === 'limited' && { nextRetryDelay: LIMITED_RETRY }),
  });
}

/** Acts in the org of a run; what the org refuses is the outcome of the run. */
export async function actInOrg(
  { actingAs, crm }: Deps,
  tenant: TenantKey,
  run: RunContext,
  { signal }: Pick<CallOptions, 'signal'>,
  work: (org: ActedOrg) => Promise<HeldOutcome>,
): Promise<HeldOutcome> {
  let username = '';
  try {
    // In the name of whoever asked: a token with projects reaches no other orgs.
    const org = await actingAs({ ...run.requestedBy, ...tenant })((tx) => orgOfRun(tx, run));
    ({ username } = org);
    const calls = crm.connections.callOrg({ ...tenant, orgId: org.id }, { isRun: true, signal });
    return await work({ orgId: org.id, username, calls });
  } catch (error) {
    if (error instanceof OrgCallFailed) return settled(username, error);
    if (error instanceof DomainError && error.code !== 'unavailable') return { status: 'failed', error: error.message };
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
