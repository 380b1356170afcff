import type { OrgScope } from '../../domain/crm-orgs/org-scope.ts';
import type { Scope } from '../http/scope.ts';

/** What work on orgs takes of a request. */
export const orgScope = ({ actor, tx, reads, adapters: { crm } }: Scope): OrgScope => ({ actor, tx, reads, crm });
