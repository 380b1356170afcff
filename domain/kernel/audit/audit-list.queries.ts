import { expressionBuilder, sql, type Expression } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import type { Tables } from '../data/tables.ts';
import { unregistered } from '../shared/errors.ts';
import {
  afterPrefix,
  type AuditFilter,
  type Condition,
  entryConditions,
  facetConditions,
  timeConditions,
} from './audit-filter.ts';

const HOUR_MS = 3_600_000;

const PLAIN_COLUMNS = [
  'e.id',
  'e.sequence',
  'e.occurredAt',
  'e.source',
  'e.action',
  'e.repositoryIdentifier',
  'e.entityType',
  'e.entityId',
  'e.summary',
  'e.requestId',
  'e.prevHash',
  'e.hash',
] as const;

/** Columns of an entry as readers get it. */
export const ENTRY_COLUMNS = [...PLAIN_COLUMNS, 'e.actor', 'e.before', 'e.after'] as const;

/** Columns of entries with JSON as the database's text, for readers of many: a part need not be parsed to be printed again. */
export const CELL_COLUMNS = [
  ...PLAIN_COLUMNS,
  entryConditions.cast<string>('e.actor', 'text').as('actor'),
  entryConditions.cast<string | null>('e.before', 'text').as('before'),
  entryConditions.cast<string | null>('e.after', 'text').as('after'),
] as const;

/** Throws `invalid_request` for a repository that the tenant never had; one that was removed is still in the trail. */
export async function assertKnownRepository({ db }: Reads, identifier: string | undefined): Promise<void> {
  if (identifier === undefined) return;
  const known = await db
    .selectFrom('audit_tally')
    .where('facet', '=', 'repository')
    .where('value', '=', identifier)
    .limit(1)
    .select('facet')
    .executeTakeFirst();
  if (!known) throw unregistered(identifier);
}

/** An entry; `sequence` and times are the database's text. */
export type EntryRow = Awaited<ReturnType<typeof listEntries>>[number];

/** A page of the entries of a filter, newest first, with how many there are. Throws `invalid_request` as `assertKnownRepository`. */
export async function findEntries(
  reads: Reads,
  filter: AuditFilter,
  page: { limit: number; offset: number },
): Promise<{ items: EntryRow[]; total: number }> {
  await assertKnownRepository(reads, filter.repositoryIdentifier);
  const [items, total] = await Promise.all([listEntries(reads, filter, page), countEntries(reads, filter)]);
  return { items, total };
}

function listEntries(reads: Reads, filter: AuditFilter, page: { limit: number; offset: number }) {
  const { action, ...others } = filter;
  const conditions = [...facetConditions(others), ...timeConditions(filter)];
  return action === undefined ? pageOf(reads, conditions, page) : pageOfAction(reads, action, conditions, page);
}

function pageOf({ db }: Reads, conditions: Condition[], { limit, offset }: { limit: number; offset: number }) {
  return db
    .with('page', (inner) =>
      inner
        .selectFrom('audit_entry as e')
        .where(entryConditions.and(conditions))
        .orderBy('e.occurredAt', 'desc')
        .orderBy('e.sequence', 'desc')
        .limit(limit)
        .offset(offset)
        .select(['e.occurredAt', 'e.sequence']),
    )
    .selectFrom('page')
    .innerJoin('audit_entry as e', 'e.sequence', 'page.sequence')
    .orderBy('e.occurredAt', 'desc')
    .orderBy('e.sequence', 'desc')
    .select(ENTRY_COLUMNS)
    .execute();
}

/** Each action has its place in the index, so the newest of each are merged instead of sorting all with this beginning. */
function pageOfAction(
  { db }: Reads,
  action: string,
  conditions: Condition[],
  { limit, offset }: { limit: number; offset: number },
) {
  const end = afterPrefix(action);
  return db
    .withRecursive(
      'action(value)',
      () => sql<{ value: string | null }>`(
        (select value from audit_tally where facet = 'action' and value >= ${action} and value < ${end} order by value limit 1)
        union all
        select (select t.value from audit_tally t
          where t.facet = 'action' and t.value > a.value and t.value < ${end} order by t.value limit 1)
        from action a where a.value is not null)`,
    )
    .with('page', (inner) =>
      inner
        .selectFrom('action as a')
        .crossJoinLateral((of) =>
          of
            .selectFrom('audit_entry as e')
            .whereRef('e.action', '=', 'a.value')
            .where(entryConditions.and(conditions))
            .orderBy('e.occurredAt', 'desc')
            .orderBy('e.sequence', 'desc')
            .limit(limit + offset)
            .select(['e.occurredAt', 'e.sequence'])
            .as('e'),
        )
        .where('a.value', 'is not', null)
        .orderBy('e.occurredAt', 'desc')
        .orderBy('e.sequence', 'desc')
        .limit(limit)
        .offset(offset)
        .select(['e.occurredAt', 'e.sequence']),
    )
    .selectFrom('page')
    .innerJoin('audit_entry as e', 'e.sequence', 'page.sequence')
    .orderBy('e.occurredAt', 'desc')
    .orderBy('e.sequence', 'desc')
    .select(ENTRY_COLUMNS)
    .execute();
}

interface Facet {
  facet: string;
  /** The value that the tallies have, or the first of a range. */
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

/** The year after it has five digits. */
const LAST_HOUR = Date.UTC(9999, 11, 31, 23);

/**
 * How many entries a filter names, exactly. By one property, with or without a time, whole hours come from the tallies
 * which are written with the entries, and only the hours that are cut are counted; several properties at once, or an
 * entity, are counted entry by entry.
 */
async function countEntries({ db }: Reads, filter: AuditFilter): Promise<number> {
  const row = await db
    .selectNoFrom(sql<string>`${sql.join(countsOf(filter), sql` + `)}`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(row.total);
}

/** Numbers that add up to the count. */
function countsOf(filter: AuditFilter): Expression<unknown>[] {
  const { from, to } = filter;
  const facet = facetOf(filter);
  const conditions = facetConditions(filter);
  const firstHour = from && new Date(Math.min(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS, LAST_HOUR));
  const endHour = to && new Date(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS);
  if (!facet || (firstHour && endHour && firstHour >= endHour)) {
    return [counted([...conditions, ...timeConditions(filter)])];
  }
  const cut = (time: Pick<AuditFilter, 'from' | 'to'>) => counted([...conditions, ...timeConditions(time)]);
  return [
    tallied(facet, firstHour, endHour),
    ...(from && firstHour && from < firstHour ? [cut({ from, to: firstHour })] : []),
    ...(to && endHour && endHour < to ? [cut({ from: endHour, to })] : []),
  ];
}

const counted = (conditions: Condition[]): Expression<unknown> =>
  entryConditions
    .selectFrom('audit_entry as e')
    .where(entryConditions.and(conditions))
    .select((eb) => eb.fn.countAll<string>().as('entries'));

function tallied({ facet, from, until }: Facet, firstHour: Date | undefined, endHour: Date | undefined) {
  let tallies = expressionBuilder<Tables>()
    .selectFrom('audit_tally as t')
    .where('t.facet', '=', facet)
    .select((eb) => eb.fn.coalesce(eb.fn.sum('t.entries'), sql.lit(0)).as('entries'));
  tallies =
    until === undefined
      ? tallies.where('t.value', '=', from)
      : tallies.where('t.value', '>=', from).where('t.value', '<', until);
  if (firstHour) tallies = tallies.where('t.hour', '>=', firstHour.toISOString());
  if (endHour) tallies = tallies.where('t.hour', '<', endHour.toISOString());
  return tallies;
}
