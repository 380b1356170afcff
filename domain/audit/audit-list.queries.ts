import type { ActorReads } from '../data/fenced-reads.ts';
import { unregistered } from '../projects/projects.queries.ts';
import {
  afterPrefix,
  allOf,
  type AuditFilter,
  type Condition,
  facetConditions,
  timeConditions,
} from './audit-filter.ts';
import type { AuditEntry } from './audit-rules.ts';

const HOUR_MS = 3_600_000;

/** Columns of an entry as readers get it, times as the database's text. */
export const ENTRY_COLUMNS = `e.id, e.sequence::int8 as sequence, e.occurred_at as "occurredAt", e.source, e.action, e.actor,
  e.repository_identifier as "repositoryIdentifier", e.entity_type as "entityType", e.entity_id as "entityId", e.summary,
  e.before, e.after, e.request_id as "requestId", e.prev_hash as "prevHash", e.hash`;

/** An entry as the database gives it: `sequence` and times are text. */
export interface EntryRow extends Omit<AuditEntry, 'sequence'> {
  sequence: string;
}

/** The same with JSON as the database's text, for those who read many: a part need not be parsed to be printed again. */
export interface EntryCells extends Omit<EntryRow, 'actor' | 'before' | 'after'> {
  actor: string;
  before: string | null;
  after: string | null;
}
export const CELL_COLUMNS = ENTRY_COLUMNS.replace('e.actor', 'e.actor::text').replace(
  'e.before, e.after',
  'e.before::text, e.after::text',
);

const NEWEST_FIRST = 'order by e.occurred_at desc, e.sequence desc';

// Each action has its place in the index, so the newest of each are merged instead of all that begin alike sorted.
const ACTIONS = `
  with recursive action (value) as (
    (select value from audit_tally where facet = 'action' and value >= ? and value < ? order by value limit 1)
    union all
    select (select t.value from audit_tally t where t.facet = 'action' and t.value > a.value and t.value < ? order by t.value limit 1)
    from action a where a.value is not null)`;

/** Throws `invalid_request` for a repository that the tenant never had; one that was removed is still in the trail. */
export async function assertKnownRepository(reads: ActorReads, identifier: string | undefined): Promise<void> {
  if (identifier === undefined) return;
  const [known] = await reads.sql(`select from audit_tally where facet = 'repository' and value = ? limit 1`, [
    identifier,
  ]);
  if (!known) throw unregistered(identifier);
}

/** A page of the entries of a filter, newest first. */
export async function listEntries(
  reads: ActorReads,
  filter: AuditFilter,
  page: { limit: number; offset: number },
): Promise<EntryRow[]> {
  const { action, ...others } = filter;
  const { sql: condition, parameters } = allOf([...facetConditions(others), ...timeConditions(filter)]);
  const chosen = (where: string) =>
    `select e.occurred_at, e.sequence from audit_entry e where ${where} ${NEWEST_FIRST}`;
  const { limit, offset } = page;
  const withRows = `, page as (%) select ${ENTRY_COLUMNS} from page join audit_entry e on e.sequence = page.sequence ${NEWEST_FIRST}`;
  if (action === undefined) {
    const statement = `with ${withRows.slice(2).replace('%', () => `${chosen(condition)} limit ? offset ?`)}`;
    return reads.sql<EntryRow>(statement, [...parameters, limit, offset]);
  }
  const merged = `
    select e.occurred_at, e.sequence from action a
    cross join lateral (${chosen(`e.action = a.value and ${condition}`)} limit ?) e
    where a.value is not null ${NEWEST_FIRST} limit ? offset ?`;
  const end = afterPrefix(action);
  return reads.sql<EntryRow>(ACTIONS + withRows.replace('%', () => merged), [
    action,
    end,
    end,
    ...parameters,
    limit + offset,
    limit,
    offset,
  ]);
}

interface Facet {
  facet: string;
  /** Of the tallies that count. */
  from: string;
  /** Exclusive; absent: the one value alone. */
  until?: string;
}

/** The tallies that count the entries of a filter; undefined when only the entries themselves can be counted. */
function facetOf({ source, action, actor, repositoryIdentifier, entityId }: AuditFilter): Facet | undefined {
  const facets: Facet[] = [
    ...(source === undefined ? [] : [{ facet: 'source', from: source }]),
    ...(action === undefined ? [] : [{ facet: 'action', from: action, until: afterPrefix(action) }]),
    ...(actor === undefined ? [] : [{ facet: 'actor', from: actor }]),
    ...(repositoryIdentifier === undefined ? [] : [{ facet: 'repository', from: repositoryIdentifier }]),
  ];
  if (entityId !== undefined || facets.length > 1) return undefined;
  return facets[0] ?? { facet: 'all', from: '' };
}

/**
 * How many entries a filter names, exactly. By one property, within a time or not, whole hours come from the tallies
 * which are written with the entries, and only the hours that are cut are counted; several properties at once, or an
 * entity, are counted entry by entry.
 */
export async function countEntries(reads: ActorReads, filter: AuditFilter): Promise<number> {
  const { from, to } = filter;
  const facet = facetOf(filter);
  const conditions = facetConditions(filter);
  const firstHour = from && new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS);
  const endHour = to && new Date(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS);
  if (!facet || (firstHour && endHour && firstHour >= endHour)) {
    return countOf(reads, [counted([...conditions, ...timeConditions(filter)])]);
  }
  const { facet: name, from: value, until } = facet;
  const hours = allOf([
    { sql: 't.facet = ?', parameters: [name] },
    until === undefined
      ? { sql: 't.value = ?', parameters: [value] }
      : { sql: 't.value >= ? and t.value < ?', parameters: [value, until] },
    ...(firstHour ? [{ sql: 't.hour >= ?', parameters: [firstHour.toISOString()] }] : []),
    ...(endHour ? [{ sql: 't.hour < ?', parameters: [endHour.toISOString()] }] : []),
  ]);
  const whole = {
    sql: `(select coalesce(sum(t.entries), 0) from audit_tally t where ${hours.sql})`,
    parameters: hours.parameters,
  };
  return countOf(reads, [
    whole,
    ...(from && firstHour && from < firstHour
      ? [counted([...conditions, ...timeConditions({ from, to: firstHour })])]
      : []),
    ...(to && endHour && endHour < to ? [counted([...conditions, ...timeConditions({ from: endHour, to })])] : []),
  ]);
}

function counted(conditions: readonly Condition[]): Condition {
  const { sql, parameters } = allOf(conditions);
  return { sql: `(select count(*) from audit_entry e where ${sql})`, parameters };
}

async function countOf(reads: ActorReads, counts: readonly Condition[]): Promise<number> {
  const [row] = await reads.sql<{ total: string }>(
    `select ${counts.map(({ sql }) => sql).join(' + ')} as total`,
    counts.flatMap(({ parameters }) => parameters),
  );
  return Number(row?.total ?? 0);
}
