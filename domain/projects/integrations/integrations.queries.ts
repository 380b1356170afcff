import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { IntegrationKind } from './integration-rules.ts';

/** Most integrations of a tenant in a list: one per kind and project. */
export const INTEGRATIONS_MAX = 1_000;

export interface IntegrationFilter {
  kind?: IntegrationKind | undefined;
  projectId?: string | undefined;
}

const integrationsOf = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('integration as i')
    // Null for one of the whole tenant.
    .leftJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'i.tenantId').onRef('p.id', '=', 'i.projectId'))
    .where('i.tenantId', '=', tenantId)
    .select([
      'i.id',
      'i.kind',
      'i.name',
      'i.baseUrl',
      'i.settings',
      'i.isActive',
      'i.version',
      'p.identifier as repositoryIdentifier',
      'i.credentialsUpdatedAt',
      'i.createdBy',
      'i.createdAt',
      'i.updatedAt',
    ]);

/** An integration as owners see it: without its credentials. */
export type IntegrationRow = Awaited<ReturnType<typeof listIntegrations>>[number];

/** The tenant's integrations by kind, the tenant-wide one of each first. At most `INTEGRATIONS_MAX`. */
export function listIntegrations(reads: Reads, { kind, projectId }: IntegrationFilter) {
  let integrations = integrationsOf(reads);
  if (kind !== undefined) integrations = integrations.where('i.kind', '=', kind);
  if (projectId !== undefined) integrations = integrations.where('i.projectId', '=', projectId);
  return integrations
    .orderBy('i.kind')
    .orderBy('p.identifier', (order) => order.asc().nullsFirst())
    .orderBy('i.id')
    .limit(sql.lit(INTEGRATIONS_MAX))
    .execute();
}

/** Throws `not_found`. */
export async function integrationById(reads: Reads, id: string): Promise<IntegrationRow> {
  const integration = await integrationsOf(reads).where('i.id', '=', id).executeTakeFirst();
  if (!integration) throw notFound('The integration');
  return integration;
}

/** The settings of the integration of a kind that is used for a project; undefined without one. */
export const settingsOfIntegration = ({ db, tenantId }: Reads, kind: IntegrationKind, projectId: string) =>
  db
    .selectFrom('integration')
    .where('tenantId', '=', tenantId)
    .where('kind', '=', kind)
    .where('isActive', '=', true)
    .where((eb) => eb.or([eb('projectId', 'is', null), eb('projectId', '=', projectId)]))
    .orderBy(sql`project_id is null`)
    .limit(sql.lit(1))
    .select('settings')
    .executeTakeFirst();

/** The active integration of a kind with its encrypted credentials: that of the project, else that of the tenant. */
export const usableIntegration = (reads: Reads, kind: IntegrationKind, projectId: string | undefined) =>
  integrationsOf(reads)
    .where('i.kind', '=', kind)
    .where('i.isActive', '=', true)
    .where((eb) =>
      eb.or([eb('i.projectId', 'is', null), ...(projectId === undefined ? [] : [eb('i.projectId', '=', projectId)])]),
    )
    .orderBy(sql`i.project_id is null`)
    .limit(sql.lit(1))
    .select('i.credentials')
    .executeTakeFirst();
