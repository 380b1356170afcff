import { type Expression, expressionBuilder, sql, type SqlBool } from 'kysely';
import type { Tables } from '../data/tables.ts';
import { isId } from '../shared/ids.ts';
import type { AuditSource } from './audit-rules.ts';

/** Which entries of a trail are meant; absent members narrow nothing. */
export interface AuditFilter {
  source?: AuditSource | undefined;
  /** A whole action, or its beginning. */
  action?: string | undefined;
  /** E-mail of a person, `app:<name>` of an application token, or the id of either. */
  actor?: string | undefined;
  repositoryIdentifier?: string | undefined;
  entityId?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** A filter as it is kept with an export: absent members are left out, times are ISO 8601. */
export type StoredFilter = Omit<AuditFilter, 'from' | 'to'> & { from?: string; to?: string };

export const storedFilter = ({ from, to, ...others }: AuditFilter): StoredFilter => ({
  ...(Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)) as StoredFilter),
  ...(from && { from: from.toISOString() }),
  ...(to && { to: to.toISOString() }),
});

export const filterOf = ({ from, to, ...others }: StoredFilter): AuditFilter => ({
  ...others,
  ...(from !== undefined && { from: new Date(from) }),
  ...(to !== undefined && { to: new Date(to) }),
});

export type Condition = Expression<SqlBool>;

/** The tables, with `e` for entries of the trail. */
type WithEntries = Tables & { e: Tables['audit_entry'] };
export const entryConditions = expressionBuilder<WithEntries, 'e'>();

/** The largest code point comes after every other text with the same beginning. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10FFFF}`;

/** The conditions of a filter apart from its time; `e` names the entry. */
export function facetConditions(filter: Omit<AuditFilter, 'from' | 'to'>): Condition[] {
  const { source, action, actor, repositoryIdentifier, entityId } = filter;
  const eb = entryConditions;
  const conditions: Condition[] = [];
  if (source !== undefined) conditions.push(eb('e.source', '=', source));
  if (action !== undefined) {
    conditions.push(sql`e.action collate "C" >= ${action}`, sql`e.action collate "C" < ${afterPrefix(action)}`);
  }
  if (actor !== undefined) {
    conditions.push(isId(actor) ? eb('e.actorId', '=', actor.toLowerCase()) : eb('e.actorEmail', '=', actor));
  }
  if (repositoryIdentifier !== undefined) conditions.push(eb('e.repositoryIdentifier', '=', repositoryIdentifier));
  if (entityId !== undefined) conditions.push(eb('e.entityId', '=', entityId));
  return conditions;
}

export function timeConditions({ from, to }: Pick<AuditFilter, 'from' | 'to'>): Condition[] {
  const eb = entryConditions;
  return [
    ...(from === undefined ? [] : [eb('e.occurredAt', '>=', from.toISOString())]),
    ...(to === undefined ? [] : [eb('e.occurredAt', '<', to.toISOString())]),
  ];
}
