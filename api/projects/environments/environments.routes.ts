import { z } from 'zod';
import { assertPermittedHosts } from '../../../domain/projects/environments/org-host-rules.ts';
import { policyWarnings } from '../../../domain/projects/policies/policy-warnings.ts';
import {
  type Environment as EnvironmentEntity,
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
  listEnvironments,
} from '../../../domain/projects/environments/environments.queries.ts';
import { type ProjectFacts, projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent, RepositoryIdentifier } from '../../http/parameters.ts';
import type { Scope } from '../../http/scope.ts';
import { Environment, EnvironmentIn, EnvironmentPatch, EnvironmentWithWarnings } from './environments.schemas.ts';

const GROUP = 'Environments';

/** How some environments of a project are returned to clients. */
async function viewOf(
  work: Tx,
  { environments: { stateOf } }: Scope['adapters'],
  project: ProjectFacts,
  environments: readonly { id: string }[],
) {
  const ids = environments.map(({ id }) => id);
  const state = await stateOf(work, project.id, ids);
  return <E extends { id: string }>(environment: E) => ({
    ...environment,
    repositoryIdentifier: project.identifier,
    ...state(environment.id),
  });
}

/** An environment in a reply about it alone. */
async function detailed(
  work: Tx,
  adapters: Scope['adapters'],
  { environment, project }: { environment: EnvironmentEntity; project: ProjectFacts },
) {
  const view = await viewOf(work, adapters, project, [environment]);
  const warnings = await policyWarnings(work, work.actor, environment.approvalPolicy, ['approvalPolicy']);
  return { ...view(environment), warnings };
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
    summary: 'List the environments of a project in deployment order',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      category: z.enum(ENVIRONMENT_CATEGORIES).optional(),
    }),
    status: 200,
    response: z.array(Environment),
    handle: ({ query: { repositoryIdentifier, category } }, { tx, adapters }) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const environments = await listEnvironments(work, project.id, category);
        return environments.map(await viewOf(work, adapters, project, environments));
      }),
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
