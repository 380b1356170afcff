import type { OrgScope } from '../../../domain/orgs/crm-orgs/org-scope.ts';
import type { Scope } from '../../http/scope.ts';

/** What work on orgs takes of a request. */
export const orgScope = ({ actor, requestId, tx, reads, adapters: { crm } }: Scope): OrgScope => ({
  actor,
  requestId,
  tx,
  reads,
  crm,
});
