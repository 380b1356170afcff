import { hash } from 'node:crypto';
import type pg from 'pg';
import { type AuditEntry, hashedText } from '../domain/kernel/audit/audit-rules.ts';
import { newId } from '../domain/kernel/shared/ids.ts';

const BATCH = 5_000;
const DAYS = 90;

const KINDS = [
  ['project', 'project.updated'],
  ['environment', 'environment.updated'],
  ['release', 'release_candidate.created'],
  ['release', 'release_candidate.status_changed'],
  ['webhook', 'webhook.triggered'],
  ['user', 'auth.signed_in'],
  ['flow', 'flow.started'],
  ['flow', 'flow.completed'],
  ['document', 'document.updated'],
  ['approval', 'approval.approved'],
] as const;

/**
 * Fills a tenant's trail up to so many entries, chained as the service does it, over ninety days: ten kinds, fifty
 * people, thirty repositories, twenty thousand entities. Runs as the schema's owner.
 */
export async function seedTrail(database: pg.Client, tenantId: string, total: number): Promise<void> {
  const { rows } = await database.query('select sequence, hash from audit_head where tenant_id = $1', [tenantId]);
  let sequence = Number(rows[0].sequence);
  let prevHash: string = rows[0].hash;
  const startMs = Date.now() - DAYS * 86_400_000;
  while (sequence < total) {
    const entries: AuditEntry[] = [];
    for (let n = 0; n < BATCH && sequence < total; n++) {
      sequence++;
      const [source, action] = KINDS[(sequence * 7) % KINDS.length] ?? KINDS[0];
      const person = (sequence * 31) % 50;
      const entry: AuditEntry = {
        id: newId(),
        sequence,
        occurredAt: new Date(startMs + Math.floor((sequence / total) * DAYS * 86_400_000)).toISOString(),
        source,
        action,
        actor: {
          type: 'user',
          id: `00000000-0000-7000-8000-0000000000${String(person).padStart(2, '0')}`,
          email: `person${person}@bench.example`,
        },
        repositoryIdentifier: `bench/repository-${(sequence * 13) % 30}`,
        entityType: source,
        entityId: `entity-${(sequence * 17) % 20_000}`,
        summary: `Entry ${sequence} of a long trail, written for a benchmark`,
        before: sequence % 2 === 0 ? { status: 'pending', version: sequence } : null,
        after: { status: 'in_progress', version: sequence + 1, tags: ['a', 'b'], name: `r-${sequence}` },
        requestId: newId(),
        prevHash,
        hash: '',
      };
      entry.hash = hash('sha256', hashedText(entry));
      prevHash = entry.hash;
      entries.push(entry);
    }
    await database.query(INSERT, [tenantId, JSON.stringify(entries)]);
  }
  await database.query('update audit_head set sequence = $2, hash = $3 where tenant_id = $1', [
    tenantId,
    sequence,
    prevHash,
  ]);
  await database.query('delete from audit_tally where tenant_id = $1', [tenantId]);
  await database.query('select audit_count($1, 1)', [tenantId]);
  await database.query('vacuum analyze audit_entry, audit_tally');
}

const INSERT = `
  insert into audit_entry (tenant_id, sequence, id, occurred_at, source, action, actor, repository_identifier, entity_type, entity_id,
    summary, before, after, request_id, prev_hash, hash)
  select $1, sequence, id, "occurredAt", source, action, actor, "repositoryIdentifier", "entityType", "entityId", summary,
    nullif(before, 'null'), nullif(after, 'null'), "requestId", "prevHash", hash
  from jsonb_to_recordset($2::jsonb) as e (sequence bigint, id uuid, "occurredAt" timestamptz, source text, action text, actor jsonb,
    "repositoryIdentifier" text, "entityType" text, "entityId" text, summary text, before jsonb, after jsonb, "requestId" text,
    "prevHash" text, hash text)`;
