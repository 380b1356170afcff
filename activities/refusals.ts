import type { Actor, TenantKey } from '../domain/kernel/shared/actor.ts';
import { DomainError, type ErrorCode } from '../domain/kernel/shared/errors.ts';
import type { Tx } from '../domain/unit-of-work.ts';
import type { Deps } from './deps.ts';

/** Why a change was refused; a refusal is an answer, not a failure to be repeated. */
export interface Refusal {
  code: ErrorCode;
  message: string;
}

/** A change that somebody asked a workflow for. */
interface AskedChange extends TenantKey {
  by: Actor;
  requestId: string;
  traceparent?: string | undefined;
}

/** Makes changes in the name of whoever asked for them; null when it was made. */
export const refusableChanges =
  ({ actingAs }: Pick<Deps, 'actingAs'>) =>
  async (
    { tenantId, tenantSlug, by, requestId, traceparent }: AskedChange,
    change: (tx: Tx) => Promise<unknown>,
  ): Promise<Refusal | null> => {
    try {
      await actingAs({ ...by, tenantId, tenantSlug }, { requestId, traceparent })(change);
      return null;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { code: error.code, message: error.message };
    }
  };
