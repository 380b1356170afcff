import type { DeploymentStatus, EventOutcome, LatestDeployment } from '../release-candidates/finalization-rules.ts';
import { newId } from '../shared/ids.ts';
import type { Actor } from '../shared/actor.ts';
import type { Tx } from '../unit-of-work.ts';

export interface PackageDetail {
  name: string;
  version?: string | undefined;
  /** ISO 8601. */
  startTime?: string | undefined;
  endTime?: string | undefined;
  [more: string]: unknown;
}

/** One reported deployment: at once the stored intent of an event and the fact that releases are read from. */
export interface NewDeployment {
  projectId: string;
  environmentId: string;
  candidateId: string;
  domain: string;
  releaseName: string;
  status: DeploymentStatus;
  deployedAt: Date;
  /** Two reports with the same key are one. Absent: this report is its own. */
  dedupeKey: string | undefined;
  executionId: string | undefined;
  packages: Record<string, string>;
  packageDetails: readonly PackageDetail[];
  releaseDefinition: unknown;
  metadata: unknown;
  approval: unknown;
}

export interface StoredDeployment {
  id: string;
  isNew: boolean;
  /** The first deployment of this release anywhere: from now on it is one. */
  isFirst: boolean;
  /** What it came to; null until it is applied. */
  outcome: EventOutcome | null;
}

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Stores a report once; a repetition answers what is stored. */
export async function recordDeployment(
  tx: Tx,
  deployment: NewDeployment,
  requestId: string,
): Promise<StoredDeployment> {
  const id = newId();
  const { type, id: actorId, tenantId, role, email } = tx.actor;
  const key = [
    tx.tenantId,
    deployment.projectId,
    deployment.domain,
    deployment.releaseName,
    deployment.environmentId,
    deployment.dedupeKey ?? id,
  ];
  const [made] = await tx.sql<{ isFirst: boolean }>(
    `insert into release_deployment as d (id, tenant_id, project_id, domain, release_name, environment_id, dedupe_key, candidate_id, status,
       deployed_at, execution_id, packages, package_details, release_definition, metadata, approval, reported_by, request_id, traceparent)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?::jsonb, ?::jsonb, ?::jsonb, ?::jsonb, ?, ?)
     on conflict (tenant_id, project_id, domain, release_name, environment_id, dedupe_key) do nothing
     returning not exists (select from release_deployment other
       where (other.tenant_id, other.project_id, other.domain, other.release_name) = (d.tenant_id, d.project_id, d.domain, d.release_name)) as "isFirst"`,
    [
      id,
      ...key,
      deployment.candidateId,
      deployment.status,
      deployment.deployedAt,
      deployment.executionId ?? null,
      json(deployment.packages),
      json(deployment.packageDetails),
      json(deployment.releaseDefinition),
      json(deployment.metadata),
      json(deployment.approval),
      json({ type, id: actorId, tenantId, role, email } satisfies Actor),
      requestId,
      tx.traceparent ?? null,
    ],
  );
  if (made) return { id, isNew: true, isFirst: made.isFirst, outcome: null };
  const [stored] = await tx.sql<{ id: string; outcome: EventOutcome | null }>(
    `select id, outcome from release_deployment
     where tenant_id = ? and project_id = ? and domain = ? and release_name = ? and environment_id = ? and dedupe_key = ?`,
    key,
  );
  if (!stored) throw new Error('a deployment that was just in the way is gone');
  return { ...stored, isNew: false, isFirst: false };
}

export interface UnappliedDeployment {
  candidateId: string | null;
  status: DeploymentStatus;
  appliedAt: string | null;
  outcome: EventOutcome | null;
}

/** The record of an event, locked until this transaction ends; undefined when its project was removed. */
export async function lockDeployment({ sql }: Tx, id: string): Promise<UnappliedDeployment | undefined> {
  const [row] = await sql<UnappliedDeployment>(
    `select candidate_id as "candidateId", status, applied_at as "appliedAt", outcome
     from release_deployment where id = ? for update`,
    [id],
  );
  return row;
}

/** The latest deployment of a candidate in each environment, of those that are applied and the one being applied. */
export async function latestDeployments(
  tx: Tx,
  candidateId: string,
  beingApplied: string | null,
): Promise<LatestDeployment[]> {
  return tx.sql(
    `select distinct on (environment_id) environment_id as "environmentId", status, rolled_back_at is not null as "isRolledBack"
     from release_deployment
     where tenant_id = ? and candidate_id = ? and (applied_at is not null or id = ?)
     order by environment_id, deployed_at desc, id desc`,
    [tx.tenantId, candidateId, beingApplied],
  );
}

export async function storeOutcome({ sql }: Tx, id: string, outcome: EventOutcome): Promise<void> {
  await sql('update release_deployment set applied_at = now(), outcome = ?::jsonb, updated_at = now() where id = ?', [
    JSON.stringify(outcome),
    id,
  ]);
}

/** Package name to version, as the successful deployments to an environment that were not rolled back left it. */
export async function installedPackages(tx: Tx, environmentId: string): Promise<Record<string, string>> {
  const rows = await tx.sql<{ name: string; version: string }>(
    `select distinct on (p.key) p.key as name, p.value as version
     from release_deployment d, jsonb_each_text(d.packages) p
     where d.tenant_id = ? and d.environment_id = ? and d.status = 'Success' and d.rolled_back_at is null
     order by p.key, d.deployed_at desc, d.id desc`,
    [tx.tenantId, environmentId],
  );
  return Object.fromEntries(rows.map(({ name, version }) => [name, version]));
}

/** How many of a project's newest deployments tell how long a package takes. */
const DURATION_SAMPLE = 500;

/** Seconds that each of some packages takes: the median of its past durations (`endTime` less `startTime` of the details). */
export async function medianSeconds(
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  packages: readonly string[],
): Promise<Map<string, number>> {
  if (packages.length === 0) return new Map();
  const rows = await sql<{ name: string; seconds: number }>(
    `with recent as (
       select package_details from release_deployment where tenant_id = ? and project_id = ? and status = 'Success'
       order by deployed_at desc, id desc limit ${DURATION_SAMPLE})
     select detail.name, percentile_cont(0.5) within group (
       order by extract(epoch from detail."endTime"::timestamptz - detail."startTime"::timestamptz)::float8) as seconds
     from recent, jsonb_to_recordset(package_details) as detail (name text, "startTime" text, "endTime" text)
     where detail."startTime" is not null and detail."endTime" is not null
       and detail.name = any (array(select jsonb_array_elements_text(?::jsonb)))
     group by detail.name`,
    [tenantId, projectId, JSON.stringify(packages)],
  );
  return new Map(rows.map(({ name, seconds }) => [name, seconds]));
}

/** Seconds that a deployment of these packages is expected to take: the sum of their medians; null when none is known. */
export function expectedSeconds(medians: ReadonlyMap<string, number>, packages: readonly string[]): number | null {
  const known = packages.flatMap((name) => medians.get(name) ?? []);
  return known.length === 0 ? null : Math.round(known.reduce((sum, seconds) => sum + seconds, 0));
}

/** As `expectedSeconds`, with the medians of a project. */
export const estimateDeploymentSeconds = async (
  tx: Tx,
  projectId: string,
  packages: readonly string[],
): Promise<number | null> => expectedSeconds(await medianSeconds(tx, projectId, packages), packages);
