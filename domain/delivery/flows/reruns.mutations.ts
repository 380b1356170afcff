import { isDeepStrictEqual } from 'node:util';
import { peopleBehind } from '../../identity/application-tokens/requesters.queries.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { runById } from './flow-runs.queries.ts';
import { type AcceptedRun, acceptNewRun } from './new-runs.mutations.ts';
import type { Commands } from './programs/commands-file.ts';
import { assertRerunnable } from './run-status-rules.ts';

/** What a run is about, which another attempt of it is about, too. */
const KEPT = ['id', 'repositoryIdentifier', 'environmentName', 'domain'] as const;
/** The latest attempt of a child counts for its parent, which is about a release. */
const KEPT_OF_CHILD = [...KEPT, 'releaseName', 'flowPath'] as const;

/** Throws `invalid_request` for a payload that is that of another run rather than of another attempt. */
function assertSameRun(before: Record<string, unknown>, given: Record<string, unknown>, isChild: boolean): void {
  for (const name of isChild ? KEPT_OF_CHILD : KEPT)
    if (!isDeepStrictEqual(before[name], given[name]))
      throw invalidField(`payload/${name}`, `must be that of the run: ${JSON.stringify(before[name] ?? null)}`);
}

/**
 * Accepts another attempt of a final run, with the same payload or with another for the same type and place, in the name
 * of the actor and of all who set in motion what it repeats. Throws `not_found`, `invalid_transition`, and what
 * `acceptRun` throws.
 */
export async function rerun(
  tx: Tx,
  id: string,
  {
    requestId,
    commands,
    given,
  }: { requestId: string; commands: Commands; given?: Record<string, unknown> | undefined },
): Promise<AcceptedRun> {
  const { status, hasWorkflow, payload: before, parentId, requestedBy } = await runById(tx, id);
  if (given) assertSameRun(before, given, parentId !== null);
  assertRerunnable(status);
  if (!hasWorkflow) {
    const detail = 'A run that an external worker executed can be repeated only there';
    throw new DomainError('invalid_transition', detail);
  }
  return acceptNewRun(tx, given ?? before, {
    requestId,
    commands,
    rerunOfId: id,
    rerunType: 'rerun',
    parentId,
    requestedBy: { ...tx.actor, onBehalfOf: await peopleBehind(tx, requestedBy) },
  });
}
