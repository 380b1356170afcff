import { z } from 'zod';
import { assertPermittedHosts } from '../../../domain/projects/environments/org-host-rules.ts';
import { policyWarnings } from '../../../domain/projects/policies/policy-warnings.ts';
import {
  type Environment as EnvironmentEntity,
  type EnvironmentCategory,
  ENVIRONMENT_CATEGORIES,
} from '../../../domain/projects/environments/environments.entities.ts';
import {
  createEnvironment,
  removeEnvironment,
  updateEnvironment,
} from '../../../domain/projects/environments/environments.mutations.ts';
import {
  ENVIRONMENTS_MAX,
  environmentById,
  environmentsPage,
} from '../../../domain/projects/environments/environments.queries.ts';
import { type ProjectFacts, projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent, queryChoice, queryInt, RepositoryIdentifier } from '../../http/parameters.ts';
import { pageReply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { Environment, EnvironmentIn, EnvironmentPatch, EnvironmentWithWarnings } from './environments.schemas.ts';

const GROUP = 'Environments';

/** Each project costs a look at its deployments. */
const OF_ALL_PROJECTS_MAX = 50;

/** @param asked 0: it was not given. */
function pageSize(asked: number, repositoryIdentifier: string | undefined): number {
  const max = repositoryIdentifier === undefined ? OF_ALL_PROJECTS_MAX : ENVIRONMENTS_MAX;
  return asked === 0 ? max : Math.min(asked, max);
}

/** A page of environments of one project or of all. */
async function environmentList(
  reads: Reads,
  { environments: { stateOf, locked } }: Scope['adapters'],
  requestUrl: string,
  given: {
    repositoryIdentifier?: string | undefined;
    category?: EnvironmentCategory | undefined;
    isLocked?: boolean | undefined;
  },
  page: { limit: number; offset: number },
) {
  const { repositoryIdentifier, category, isLocked } = given;
  const project = repositoryIdentifier === undefined ? undefined : await projectInRequest(reads, repositoryIdentifier);
  const ids = isLocked === undefined ? undefined : { are: isLocked, among: await locked(reads) };
  const { items, total } = await environmentsPage(reads, { projectId: project?.id, category, ids }, page);
  const shown = [];
  for (const [projectId, ofProject] of Map.groupBy(items, (environment) => environment.projectId)) {
    const state = await stateOf(
      reads,
      projectId,
      ofProject.map(({ id }) => id),
    );
    shown.push(...ofProject.map((environment) => ({ ...environment, ...state(environment.id) })));
  }
  return pageReply(requestUrl, { ...page, total }, shown);
}

/** An environment in a reply about it alone. */
async function detailed(
  work: Tx,
  adapters: Scope['adapters'],
  { environment, project }: { environment: EnvironmentEntity; project: ProjectFacts },
) {
  const state = await adapters.environments.stateOf(work, project.id, [environment.id]);
  const warnings = await policyWarnings(work, work.actor, environment.approvalPolicy, ['approvalPolicy']);
  return { ...environment, repositoryIdentifier: project.identifier, ...state(environment.id), warnings };
}

export const environmentsRoutes = [
  defineRoute({
    operationId: 'createEnvironment',
    method: 'post',
    path: '/api/environments',
    group: GROUP,
    summary: 'Create an environment',
    description: `A project has at most ${ENVIRONMENTS_MAX} environments.`,
    roles: ['owner'],
    projectScope: 'row',
    body: EnvironmentIn,
    status: 201,
    response: EnvironmentWithWarnings,
    errors: ['already_exists', 'ambiguous'],
    audit: 'environment.created',
    async handle({ body: { repositoryIdentifier, ...fields } }, { tx, adapters }) {
      assertPermittedHosts(fields.browser?.allowedHosts, adapters.hosts.refusedHost, 'browser/allowedHosts');
      return tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const environment = await createEnvironment(work, project, fields);
        return detailed(work, adapters, { environment, project });
      });
    },
  }),
  defineRoute({
    operationId: 'listEnvironments',
    method: 'get',
    path: '/api/environments',
    group: GROUP,
    summary: 'List environments, by project and in deployment order',
    description: `With \`repositoryIdentifier\` all of that project; without it a page of those of all projects. The header \`Link\` leads to further pages.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier.optional(),
      category: z.enum(ENVIRONMENT_CATEGORIES).optional(),
      isLocked: queryChoice('Only those that are locked now, or that are not'),
      limit: queryInt(1, ENVIRONMENTS_MAX, 0).meta({
        description: `Default: all of a project, or ${OF_ALL_PROJECTS_MAX} of all projects, which are at most so many`,
      }),
      offset: queryInt(0, 1_000_000, 0),
    }),
    status: 200,
    response: z.array(Environment),
    handle: ({ query: { repositoryIdentifier, category, isLocked, limit, offset } }, { reads, adapters, requestUrl }) =>
      environmentList(
        reads,
        adapters,
        requestUrl,
        { repositoryIdentifier, category, isLocked },
        { limit: pageSize(limit, repositoryIdentifier), offset },
      ),
  }),
  defineRoute({
    operationId: 'getEnvironment',
    method: 'get',
    path: '/api/environments/{id}',
    group: GROUP,
    summary: 'Get an environment',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: EnvironmentWithWarnings,
    handle: ({ params: { id } }, { tx, adapters }) =>
      tx(async (work) => detailed(work, adapters, await environmentById(work, id))),
  }),
  defineRoute({
    operationId: 'updateEnvironment',
    method: 'patch',
    path: '/api/environments/{id}',
    group: GROUP,
    summary: 'Update an environment',
    description: 'Absent fields are not changed; objects and arrays are replaced as a whole.',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    body: EnvironmentPatch,
    status: 200,
    response: EnvironmentWithWarnings,
    errors: ['already_exists', 'ambiguous', 'version_conflict'],
    audit: 'environment.updated',
    async handle({ params: { id }, body }, { tx, adapters }) {
      assertPermittedHosts(body.browser?.allowedHosts, adapters.hosts.refusedHost, 'browser/allowedHosts');
      return tx(async (work) => detailed(work, adapters, await updateEnvironment(work, id, body)));
    },
  }),
  defineRoute({
    operationId: 'deleteEnvironment',
    method: 'delete',
    path: '/api/environments/{id}',
    group: GROUP,
    summary: 'Delete an environment and its deployment records',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    errors: ['invalid_transition'],
    audit: 'environment.deleted',
    handle: ({ params: { id } }, { tx }) => tx((work) => removeEnvironment(work, id)),
  }),
];
