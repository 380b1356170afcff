import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { ATTENTION_KINDS, type AttentionKind, type Need } from '../../kernel/attention/attention-rules.ts';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { isId } from '../../kernel/shared/ids.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';

/** Things of one kind that are found. */
export const FOUND_MAX = 200;

/** Something that a person should look at, and who has seen it as it is. */
export interface FoundNeed extends Omit<Need, 'state'> {
  /** `<kind>:<id of the thing>`; the same as long as it stands. */
  id: string;
  rule: AttentionRule;
  fingerprint: string;
  acknowledged: { by: string; at: string; comment: string | null } | null;
}

export const attentionId = (kind: AttentionKind, key: string): string => `${kind}:${key}`;

/** The kind and the key of an id; undefined for what is none. */
export function readAttentionId(id: string): { kind: AttentionKind; key: string } | undefined {
  const [name = '', key = ''] = id.split(':');
  const kind = ATTENTION_KINDS.find((one) => one === name);
  return kind && isId(key) && id === attentionId(kind, key) ? { kind, key } : undefined;
}

const digestOf = (state: string): string => createHash('sha256').update(state).digest('hex');

/**
 * What rules find, the newest first, with the kinds of which there may be more than were looked at. An acknowledgement is
 * shown as long as what it is about says the same.
 */
export async function findNeeds(
  reads: Reads,
  rules: readonly AttentionRule[],
  now: Date,
): Promise<{ needs: FoundNeed[]; cut: AttentionKind[] }> {
  const [found, acknowledged] = await Promise.all([
    Promise.all(rules.map(async (rule) => ({ rule, needs: await rule.find(reads, { now, limit: FOUND_MAX }) }))),
    acknowledgements(reads, rules),
  ]);
  const needs = found.flatMap(({ rule, needs: ofRule }) =>
    ofRule.map(({ state, ...need }): FoundNeed => {
      const id = attentionId(rule.kind, need.key);
      const fingerprint = digestOf(state);
      const seen = acknowledged.get(id);
      const by = seen?.fingerprint === fingerprint ? seen : undefined;
      return {
        ...need,
        id,
        rule,
        fingerprint,
        acknowledged: by ? { by: by.acknowledgedBy, at: isoOf(by.acknowledgedAt), comment: by.comment } : null,
      };
    }),
  );
  return {
    needs: needs.toSorted((a, b) => (a.since === b.since ? (a.id < b.id ? -1 : 1) : a.since < b.since ? 1 : -1)),
    cut: found.filter(({ needs: ofRule }) => ofRule.length >= FOUND_MAX).map(({ rule }) => rule.kind),
  };
}

async function acknowledgements({ db, tenantId }: Reads, rules: readonly AttentionRule[]) {
  const kinds = rules.map(({ kind }) => kind);
  const rows = await db
    .selectFrom('attention_acknowledgement')
    .where('tenantId', '=', tenantId)
    .where('kind', '=', sql<AttentionKind>`any (${kinds}::text[])`)
    .orderBy('acknowledgedAt', 'desc')
    .limit(sql.lit(ATTENTION_KINDS.length * FOUND_MAX * 5))
    .select(['kind', 'key', 'fingerprint', 'acknowledgedBy', 'acknowledgedAt', 'comment'])
    .execute();
  return new Map(rows.map((row) => [attentionId(row.kind, row.key), row]));
}
