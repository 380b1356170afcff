import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { inserting, sentWithNext, statement } from '../../kernel/data/statement.ts';
import type { ReleaseDefinition } from '../release-candidates/comparison-rules.ts';
import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import type { DeploymentStatus, EventOutcome } from '../release-candidates/finalization-rules.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { INSTALLING } from './deployed-rules.ts';
import type { PackageDetail } from './deployments.entities.ts';
import type { Packages } from './report-rules.ts';

/** One reported deployment: at once the stored intent of an event and the fact that releases are read from. */
export interface NewDeployment {
  projectId: string;
  environmentId: string;
  candidateId: string | null;
  domain: string;
  releaseName: string;
  status: DeploymentStatus;
  deployedAt: Date;
  /** Two reports with the same key are one. Absent: this report is its own. */
  dedupeKey: string | undefined;
  executionId: string | undefined;
  packages: Record<string, string>;
  packageDetails: PackageDetail[];
  /** Digest of the content that was deployed. */
  contentDigest: string;
  /** What it installed, by `installedBy`. */
  installed: Packages;
  /** By the rule of that name. */
  installsAll: boolean;
  /** It comes late, and was taken back already. */
  rolledBackAt: string | null;
  releaseDefinition: (ReleaseDefinition & Record<string, unknown>) | undefined;
  metadata: Record<string, unknown> | undefined;
  approval: Record<string, unknown> | undefined;
  /** What of the policies of its environment it breaks. */
  policyViolations: PolicyViolation[];
}

export interface StoredDeployment {
  id: string;
  isNew: boolean;
  /** The first deployment of this release anywhere: from now on it is one. */
  isFirst: boolean;
  /** What it came to; null until it is applied. */
  outcome: EventOutcome | null;
  policyViolations: PolicyViolation[];
}

const IDENTITY = ['tenantId', 'projectId', 'domain', 'releaseName', 'environmentId', 'dedupeKey'] as const;

const INSERT = inserting(
  'release_deployment',
  [
    ...IDENTITY,
    'id',
    'candidateId',
    'status',
    'deployedAt',
    'executionId',
    'packages',
    'packageDetails',
    'contentDigest',
    'installed',
    'installsAll',
    'rolledBackAt',
    'releaseDefinition',
    'metadata',
    'approval',
    'policyViolations',
    'reportedBy',
    'requestId',
    'traceparent',
  ],
  (query) =>
    query
      .onConflict((conflict) => conflict.columns(IDENTITY).doNothing())
      .returning(
        sql<boolean>`not exists (select from release_deployment as other
          where (other.tenant_id, other.project_id, other.domain, other.release_name)
            = (release_deployment.tenant_id, release_deployment.project_id, release_deployment.domain, release_deployment.release_name))`.as(
          'isFirst',
        ),
      ),
);

/** The stored report of that key. */
export const storedReport = (
  { db, tenantId }: Reads,
  given: Pick<NewDeployment, 'projectId' | 'domain' | 'releaseName' | 'environmentId'> & { dedupeKey: string },
) =>
  db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', given.projectId)
    .where('domain', '=', given.domain)
    .where('releaseName', '=', given.releaseName)
    .where('environmentId', '=', given.environmentId)
    .where('dedupeKey', '=', given.dedupeKey)
    .select(['id', 'status', 'contentDigest', 'outcome', 'policyViolations'])
    .executeTakeFirst();

/** Stores a report once; a repetition answers what is stored. */
export async function storeDeployment(
  { db, actor, tenantId, traceparent }: Tx,
  deployment: NewDeployment,
  requestId: string | null,
): Promise<StoredDeployment> {
  const id = newId();
  const { type, id: actorId, tenantSlug, role, email } = actor;
  const {
    dedupeKey = id,
    packages,
    packageDetails,
    installed,
    releaseDefinition,
    metadata,
    approval,
    policyViolations,
    ...row
  } = deployment;
  const [made] = await INSERT(db, {
    ...row,
    id,
    tenantId,
    dedupeKey,
    executionId: row.executionId ?? null,
    packages: json(packages),
    packageDetails: json(packageDetails),
    installed: json(installed),
    releaseDefinition: releaseDefinition ? json(releaseDefinition) : null,
    metadata: metadata ? json(metadata) : null,
    approval: approval ? json(approval) : null,
    policyViolations: json(policyViolations),
    reportedBy: json({ type, id: actorId, tenantId, tenantSlug, role, email }),
    requestId,
    traceparent: traceparent ?? null,
  });
  if (made) return { id, isNew: true, isFirst: made.isFirst, outcome: null, policyViolations };
  const stored = await storedReport({ db, tenantId }, { ...row, dedupeKey });
  if (!stored) throw new Error(`Deployment ${dedupeKey} was removed as it was reported again`);
  return { ...stored, isNew: false, isFirst: false };
}

const REPORTERS = statement<{ ids: readonly string[]; tenantId: string }>()((db, { ids, tenantId }) =>
  db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .select(['id', 'projectId', 'reportedBy', 'requestId', 'traceparent']),
);

/** Who reported some deployments, and by which requests. */
export const reportersOf = ({ db, tenantId }: Reads, ids: readonly string[]) => REPORTERS(db, { tenantId, ids });

const STORE_OUTCOME = sentWithNext<{ tenantId: string; id: string; outcome: string }>()(
  (db, { tenantId, id, outcome }) =>
    db
      .updateTable('release_deployment')
      .where('tenantId', '=', tenantId)
      .where('id', '=', id)
      .set({ appliedAt: sql<string>`now()`, outcome: sql`${outcome}::jsonb`, updatedAt: sql<string>`now()` }),
);

/** Records what a deployment came to, by which it is applied. */
export async function storeOutcome({ db, tenantId }: Tx, id: string, outcome: EventOutcome): Promise<void> {
  await STORE_OUTCOME(db, { tenantId, id, outcome: json(outcome) });
}

/** Gives deployments of a candidate's content another digest: it is the same content, named otherwise. */
export async function renameContent(
  { db, tenantId }: Tx,
  candidateId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await db
    .updateTable('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('candidateId', '=', candidateId)
    .where('contentDigest', '=', from)
    .set({ contentDigest: to, updatedAt: sql<string>`now()` })
    .execute();
}

/** The status of a deployment; undefined: there is none. */
export async function statusOfDeployment({ db, tenantId }: Reads, id: string): Promise<DeploymentStatus | undefined> {
  const found = await db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('status')
    .executeTakeFirst();
  return found?.status;
}

/** What some deployments broke of the policies of their environments; those that broke nothing are absent. */
export async function violationsOfDeployments(
  { db, tenantId }: Reads,
  ids: readonly string[],
): Promise<Map<string, PolicyViolation[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .where('policyViolations', '<>', sql<PolicyViolation[]>`'[]'`)
    .select(['id', 'policyViolations'])
    .execute();
  return new Map(rows.map(({ id, policyViolations }) => [id, policyViolations]));
}

/** `INSTALLING` as SQL. */
export const INSTALLING_STATUSES = sql<DeploymentStatus>`(${sql.join(INSTALLING.map((status) => sql.lit(status)))})`;

/** How many of a project's newest deployments tell how long a package takes. */
const DURATION_SAMPLE = 500;

/** Seconds that each of some packages takes: the median of its past durations (`endTime` less `startTime` of the details). */
export async function medianSeconds(
  { db, tenantId }: Reads,
  projectId: string,
  packages: readonly string[],
): Promise<Map<string, number>> {
  if (packages.length === 0) return new Map();
  const { rows } = await sql<{ name: string; seconds: number }>`
    with recent as (
      select package_details from release_deployment
      where tenant_id = ${tenantId} and project_id = ${projectId} and status = 'Success'
      order by deployed_at desc, id desc limit ${sql.lit(DURATION_SAMPLE)})
    select detail.name, percentile_cont(0.5) within group (
      order by extract(epoch from detail."endTime"::timestamptz - detail."startTime"::timestamptz)::float8) as seconds
    from recent, jsonb_to_recordset(package_details) as detail (name text, "startTime" text, "endTime" text)
    where detail."startTime" is not null and detail."endTime" is not null and detail.name = any (${packages}::text[])
    group by detail.name`.execute(db);
  return new Map(rows.map(({ name, seconds }) => [name, seconds]));
}

/** Seconds that a deployment of these packages is expected to take: the sum of their medians; null when none is known. */
export function expectedSeconds(medians: ReadonlyMap<string, number>, packages: readonly string[]): number | null {
  const known = packages.flatMap((name) => medians.get(name) ?? []);
  return known.length === 0 ? null : Math.round(known.reduce((sum, seconds) => sum + seconds, 0));
}
