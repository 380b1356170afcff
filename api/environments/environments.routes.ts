import { z } from 'zod';
import { assertPermittedHosts } from '../../domain/browser-sessions/org-host-rules.ts';
import { policyWarnings } from '../../domain/approvals/policy-warnings.ts';
import {
  type Environment as EnvironmentEntity,
  ENVIRONMENT_CATEGORIES,
} from '../../domain/environments/environments.entities.ts';
import {
  createEnvironment,
  removeEnvironment,
  updateEnvironment,
} from '../../domain/environments/environments.mutations.ts';
import { ENVIRONMENTS_MAX, environmentById, listEnvironments } from '../../domain/environments/environments.queries.ts';
import { type LockStatus, lockStatuses } from '../../domain/environment-locks/environment-locks.queries.ts';
import { type ProjectFacts, projectInRequest } from '../../domain/projects/projects.queries.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { byId, NoContent, RepositoryIdentifier } from '../http/parameters.ts';
import { Environment, EnvironmentIn, EnvironmentPatch, EnvironmentWithWarnings } from './environments.schemas.ts';

const GROUP = 'Environments';

/** An environment as returned to clients. */
const view = <E extends { id: string }>(
  environment: E,
  { identifier }: ProjectFacts,
  lockStatusOf: (environmentId: string) => LockStatus,
) => ({ ...environment, repositoryIdentifier: identifier, lockStatus: lockStatusOf(environment.id) });

/** An environment in a reply about it alone. */
const detailed = async (work: Tx, environment: EnvironmentEntity, project: ProjectFacts) => ({
  ...view(environment, project, await lockStatuses(work, [environment.id])),
  warnings: await policyWarnings(work, work.actor, environment.approvalPolicy, ['approvalPolicy']),
});

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
    handle: ({ body: { repositoryIdentifier, ...fields } }, { tx, adapters }) =>
      tx(async (work) => {
        assertPermittedHosts(fields.browser?.allowedHosts, adapters.hosts.refusedHost, 'browser/allowedHosts');
        const project = await projectInRequest(work, repositoryIdentifier);
        const environment = await createEnvironment(work, project, fields);
        return detailed(work, environment, project);
      }),
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
    handle: ({ query: { repositoryIdentifier, category } }, { tx }) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const environments = await listEnvironments(work, project.id, category);
        const lockStatusOf = await lockStatuses(
          work,
          environments.map(({ id }) => id),
        );
        return environments.map((environment) => view(environment, project, lockStatusOf));
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
    handle: ({ params: { id } }, { tx }) =>
      tx(async (work) => {
        const { environment, project } = await environmentById(work, id);
        return detailed(work, environment, project);
      }),
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
    handle: ({ params: { id }, body }, { tx, adapters }) =>
      tx(async (work) => {
        assertPermittedHosts(body.browser?.allowedHosts, adapters.hosts.refusedHost, 'browser/allowedHosts');
        const { environment, project } = await updateEnvironment(work, id, body);
        return detailed(work, environment, project);
      }),
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
