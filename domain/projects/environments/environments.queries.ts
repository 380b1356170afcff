import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { type DomainError, notFound, unknownName } from '../../kernel/shared/errors.ts';
import { projectById, type ProjectFacts } from '../projects/projects.queries.ts';
import type { DeploySettings } from '../policies/deploy-settings-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { Environment, type EnvironmentCategory } from './environments.entities.ts';

/** The most environments of one project: lists of them are not paged. */
export const ENVIRONMENTS_MAX = 500;

const COLUMNS = [
  'e.id',
  'e.name',
  'e.description',
  'e.category',
  'e.orgUsername',
  'e.devHubUsername',
  'e.branch',
  'e.orchestrationOrder',
  'e.isActive',
  'e.tags',
  'e.metadata',
  'e.approvalPolicy',
  'e.promotion',
  'e.browser',
  'e.verification',
  'e.deploy',
  'e.version',
  'e.createdAt',
  'e.updatedAt',
] as const;

/** Environments of a project in the order in which releases travel through them. */
export const listEnvironments = ({ db, tenantId }: Reads, projectId: string, category?: EnvironmentCategory) => {
  const ofProject = db
    .selectFrom('environment as e')
    .where('e.tenantId', '=', tenantId)
    .where('e.projectId', '=', projectId)
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .limit(ENVIRONMENTS_MAX)
    .select(COLUMNS);
  return (category === undefined ? ofProject : ofProject.where('e.category', '=', category)).execute();
};

export interface EnvironmentFilter {
  projectId?: string | undefined;
  category?: EnvironmentCategory | undefined;
  /** Only these, or only others. */
  ids?: { are: boolean; among: readonly string[] } | undefined;
}

/**
 * One page of environments with their projects, by project and in the order in which releases travel through them, and
 * how many there are.
 */
export async function environmentsPage(
  { db, tenantId }: Reads,
  { projectId, category, ids }: EnvironmentFilter,
  { limit, offset }: { limit: number; offset: number },
) {
  let found = db
    .selectFrom('environment as e')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'e.tenantId').onRef('p.id', '=', 'e.projectId'))
    .where('e.tenantId', '=', tenantId);
  if (projectId !== undefined) found = found.where('e.projectId', '=', projectId);
  if (category !== undefined) found = found.where('e.category', '=', category);
  if (ids?.are === true) found = found.where('e.id', '=', sql<string>`any (${ids.among}::uuid[])`);
  if (ids?.are === false) found = found.where('e.id', '<>', sql<string>`all (${ids.among}::uuid[])`);
  const { total } = await found.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow();
  const items = await found
    .orderBy('p.identifier')
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .limit(limit)
    .offset(offset)
    .select(COLUMNS)
    .select(['e.projectId', 'p.identifier as repositoryIdentifier'])
    .execute();
  return { items, total };
}

/** An environment with its project. Throws `not_found`. `forUpdate`: nobody else changes it until this transaction ends. */
export async function environmentById(
  tx: Tx,
  id: string,
  { forUpdate = false } = {},
): Promise<{ environment: Environment; project: ProjectFacts }> {
  const lock = forUpdate ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const environment = await tx.em.findOne(Environment, { tenantId: tx.tenantId, id }, lock);
  const project = environment && (await projectById(tx, environment.projectId));
  if (!project) throw notFound('The environment');
  return { environment, project };
}

export const environmentByName = (tx: Tx, projectId: string, name: string): Promise<Environment | null> =>
  tx.em.findOne(Environment, { tenantId: tx.tenantId, projectId, name });

/** How source is deployed to the org of an environment; null: as it is. */
export async function deploySettingsOf(
  { db, tenantId }: Reads,
  environmentId: string | null,
): Promise<DeploySettings | null> {
  if (environmentId === null) return null;
  const found = await db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', environmentId)
    .select('deploy')
    .executeTakeFirst();
  return found?.deploy ?? null;
}

/** Names of the environments of a project in the order in which releases travel through them. */
export const environmentNames = async (reads: Reads, projectId: string): Promise<string[]> =>
  (await listEnvironments(reads, projectId)).map(({ name }) => name);

/** The error about a name that none of a project's environments has. */
export const unknownEnvironment = async (reads: Reads, projectId: string, name: string): Promise<DomainError> =>
  unknownName('Environment', name, await environmentNames(reads, projectId));

export const countEnvironments = (tx: Tx, projectId: string): Promise<number> =>
  tx.em.count(Environment, { tenantId: tx.tenantId, projectId });

/** Environments of all projects that name an org by that username. */
export const environmentsOfOrg = ({ db, tenantId }: Reads, username: string) =>
  db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where(sql`lower(org_username)`, '=', username.toLowerCase())
    .orderBy('id')
    .select(['id', 'projectId'])
    .execute();

/** An environment that named an org by the short name of a sandbox until now. */
interface RenamedOrg {
  id: string;
  name: string;
  repositoryIdentifier: string;
  shortName: string;
}

/**
 * Gives the environments that name a registered sandbox by its short name its username, also those that the caller does
 * not see; none, where other orgs have that name, too.
 */
export async function useSandboxUsername({ db }: Tx, orgId: string): Promise<RenamedOrg[]> {
  const { rows } = await sql<RenamedOrg>`
    select id, name, repository_identifier as "repositoryIdentifier", short_name as "shortName"
    from name_sandbox_in_environments(${orgId}) order by id`.execute(db);
  return rows;
}
