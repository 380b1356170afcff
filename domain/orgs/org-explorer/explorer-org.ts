import { sql } from 'kysely';
import { orgsByName } from '../crm-orgs/crm-orgs.queries.ts';
import { answeringOrg } from '../../projects/environments/org-name-rules.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { type ProjectFacts, projectInRequest } from '../../projects/projects/projects.queries.ts';
import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';

/** The org whose metadata are kept; rows of another platform id are those of a sandbox before its refresh. */
export interface ExplorerOrg {
  id: string;
  username: string;
  platformOrgId: string;
}

async function findOrg(reads: Reads, name: string): Promise<ExplorerOrg | undefined> {
  const org = answeringOrg(await orgsByName(reads, name), name);
  return org && { id: org.id, username: org.username, platformOrgId: org.platformOrgId };
}

/** For an org in a query. Throws `not_found`, and `ambiguous` for a sandbox name of several production orgs. */
export async function orgInQuery(reads: Reads, name: string): Promise<ExplorerOrg> {
  const org = await findOrg(reads, name);
  if (!org) throw notFound(`Org ${name}`);
  return org;
}

/** For an org in a body. Throws `invalid_request`. */
export async function orgInBody(reads: Reads, name: string): Promise<ExplorerOrg> {
  const org = await findOrg(reads, name);
  if (!org) throw invalidField('orgUsername', `${name} is not registered`);
  return org;
}

/**
 * The org with the project of the repository, if that uses it: an environment or `devHubs` of the project name it. Throws
 * `not_found`, `ambiguous`, and `invalid_request` for an unknown repository.
 */
export async function orgOfRepository(
  reads: Reads,
  { repositoryIdentifier, orgUsername }: { repositoryIdentifier: string; orgUsername: string },
): Promise<{ org: ExplorerOrg; project: ProjectFacts }> {
  const [project, org] = await Promise.all([
    projectInRequest(reads, repositoryIdentifier),
    findOrg(reads, orgUsername),
  ]);
  if (!org || !(await usesOrg(reads, project.id, org.username)))
    throw notFound(`Org ${orgUsername} in ${repositoryIdentifier}`);
  return { org, project };
}

async function usesOrg({ db, tenantId }: Reads, projectId: string, username: string): Promise<boolean> {
  const name = sql`lower(${username})`;
  const { isUsed } = await db
    .selectNoFrom(
      sql<boolean>`
        exists (select from environment e where e.tenant_id = ${tenantId}::uuid and e.project_id = ${projectId}::uuid
          and ${name} in (lower(e.org_username), lower(e.dev_hub_username)))
        or exists (select from project p, jsonb_array_elements_text(case jsonb_typeof(p.configuration->'devHubs')
            when 'array' then p.configuration->'devHubs' else '[]' end) hub
          where p.tenant_id = ${tenantId}::uuid and p.id = ${projectId}::uuid and lower(hub) = ${name})`.as('isUsed'),
    )
    .executeTakeFirstOrThrow();
  return isUsed;
}

const orgOfId = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('crm_org')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select(['id', 'username', 'platformOrgId']);

/** The org of that id; undefined when it was removed. */
export const orgById = (reads: Reads, id: string): Promise<ExplorerOrg | undefined> =>
  orgOfId(reads, id).executeTakeFirst();

/** An org by id, locked: nobody changes it until the transaction ends. */
export const lockedOrgById = (tx: Tx, id: string): Promise<ExplorerOrg | undefined> =>
  orgOfId(tx, id).forShare().executeTakeFirst();
