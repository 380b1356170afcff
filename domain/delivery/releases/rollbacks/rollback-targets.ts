import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { DomainError } from '../../../kernel/shared/errors.ts';
import { rollbackTarget, type RollbackTarget } from './rollback-target-rules.ts';
import { installedReleases } from './rollback-targets.queries.ts';

/**
 * What a rollback of a domain in an environment deploys. Throws `invalid_transition` with the reason when there is nothing
 * to roll back to.
 * @param named the release to go back to; undefined: what was installed before.
 */
export async function targetOfRollback(
  reads: Reads,
  place: { environmentId: string; domain: string },
  named: string | undefined,
): Promise<RollbackTarget> {
  const target = rollbackTarget(await installedReleases(reads, place), named);
  if ('why' in target) throw new DomainError('invalid_transition', `There is nothing to roll back to: ${target.why}`);
  return target;
}
