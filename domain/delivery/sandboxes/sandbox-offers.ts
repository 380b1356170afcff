import { DomainError } from '../../kernel/shared/errors.ts';
import type { SandboxOf } from '../../orgs/crm-orgs/crm-orgs.mutations.ts';
import { productionOrgs } from '../../orgs/crm-orgs/crm-orgs.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { whyNoPostCopy } from './post-copy.mutations.ts';
import { ACTIVATE, CREATE, isSandboxType, whyNotDefined } from './sandbox-rules.ts';
import { type SandboxOfRun, sandboxOfRun } from './sandbox-of-run.ts';

/**
 * Why the service cannot do with a sandbox what is asked for, as far as the database knows; null: it can. Throws
 * `invalid_request` for runs that are to follow.
 */
export async function whyNotSandbox(tx: Tx, { id, run }: OfferedType): Promise<string | null> {
  if (!isSandboxType(id)) return null;
  if (!run)
    return (await productionOrgs(tx)).length > 0
      ? null
      : 'No production org is registered in which the service could do it';
  try {
    const sandbox = await sandboxOfRun(tx, id, run);
    return (
      (id === CREATE ? whyNotDefined(run.payload) : null) ??
      whyNoPostCopy(run.payload) ??
      (await whyInUse(tx, id, run.payload, sandbox))
    );
  } catch (error) {
    if (error instanceof DomainError && error.code !== 'invalid_request') return error.message;
    throw error;
  }
}

/** Why a sandbox cannot go now: somebody uses it, and the payload does not accept that. Null: it can. */
export async function whyInUse(
  tx: Tx,
  id: string,
  { action, force }: Readonly<Record<string, unknown>>,
  { name, production, records }: SandboxOf & Pick<SandboxOfRun, 'records'>,
): Promise<string | null> {
  if (id === CREATE || (id === ACTIVATE && action === 'discard') || force === true) return null;
  const usernames = [`${production.username}.${name}`, ...records.map(({ username }) => username)];
  const used = (await tx.tell('sandboxGoes', { usernames })).flat();
  return used.length === 0
    ? null
    : `Sandbox ${name} is in use: ${used.join(', ')}. End that first, or accept its loss with force: true`;
}
