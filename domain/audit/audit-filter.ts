import { isId } from '../shared/ids.ts';

/** Which entries of a trail are meant; absent members narrow nothing. */
export interface AuditFilter {
  source?: string | undefined;
  /** A whole action, or how it begins. */
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

export interface Condition {
  sql: string;
  parameters: unknown[];
}

/** The largest code point stands after every other text that begins alike. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10FFFF}`;

/** What holds for the entries of a filter apart from their time; `e` names the entry. */
export function facetConditions({ source, action, actor, repositoryIdentifier, entityId }: AuditFilter): Condition[] {
  const byActor =
    actor !== undefined &&
    (isId(actor) ? { column: 'actor_id', value: actor.toLowerCase() } : { column: 'actor_email', value: actor });
  return [
    ...(source === undefined ? [] : [{ sql: 'e.source = ?', parameters: [source] }]),
    ...(action === undefined
      ? []
      : [{ sql: 'e.action collate "C" >= ? and e.action collate "C" < ?', parameters: [action, afterPrefix(action)] }]),
    ...(byActor ? [{ sql: `e.${byActor.column} = ?`, parameters: [byActor.value] }] : []),
    ...(repositoryIdentifier === undefined
      ? []
      : [{ sql: 'e.repository_identifier = ?', parameters: [repositoryIdentifier] }]),
    ...(entityId === undefined ? [] : [{ sql: 'e.entity_id = ?', parameters: [entityId] }]),
  ];
}

export const timeConditions = ({ from, to }: Pick<AuditFilter, 'from' | 'to'>): Condition[] => [
  ...(from === undefined ? [] : [{ sql: 'e.occurred_at >= ?', parameters: [from.toISOString()] }]),
  ...(to === undefined ? [] : [{ sql: 'e.occurred_at < ?', parameters: [to.toISOString()] }]),
];

/** All of the conditions, as one. */
export const allOf = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.length === 0 ? 'true' : conditions.map(({ sql }) => sql).join(' and '),
  parameters: conditions.flatMap(({ parameters }) => parameters),
});
