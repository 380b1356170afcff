import { z } from 'zod';
import {
  ENVIRONMENT_CATEGORIES,
  Environment as EnvironmentEntity,
} from '../../domain/environments/environments.entities.ts';
import {
  ENVIRONMENTS_MAX,
  environmentById,
  environmentByName,
  listEnvironments,
} from '../../domain/environments/environments.queries.ts';
import { lockStatuses } from '../../domain/environment-locks/environment-locks.queries.ts';
import type { ProjectFacts } from '../../domain/projects/projects.queries.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { DomainError, versionConflict } from '../../domain/shared/errors.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { Id, NoContent, RepositoryIdentifier } from '../http/parameters.ts';
import { Environment, EnvironmentIn, EnvironmentPatch } from './environments.schemas.ts';

const GROUP = 'Environments';
const params = z.object({ id: Id });

/** Environments of one project as clients see them. */
async function viewAll(tx: Tx, environments: readonly EnvironmentEntity[], { identifier }: ProjectFacts) {
  const lockStatus = await lockStatuses(
    tx,
    environments.map(({ id }) => id),
  );
  return environments.map((environment) => ({
    ...environment,
    repositoryIdentifier: identifier,
    lockStatus: lockStatus(environment.id),
  }));
}

async function view(tx: Tx, environment: EnvironmentEntity, project: ProjectFacts) {
  const [shown] = await viewAll(tx, [environment], project);
  if (!shown) throw new Error('one environment makes one view');
  return shown;
}

/** What of an environment stands in the audit trail. */
const stateOf = ({ tenantId: _t, createdAt: _c, updatedAt: _u, version: _v, ...state }: EnvironmentEntity) => ({
  ...state,
});

const audit = (
  tx: Tx,
  action: string,
  { id, name }: EnvironmentEntity,
  { identifier }: ProjectFacts,
  change: { before?: unknown; after?: unknown },
) =>
  tx.audit({
    source: 'environment',
    action,
    entityType: 'environment',
    entityId: id,
    repositoryIdentifier: identifier,
    summary: `Environment ${name} ${action.split('.')[1]}`,
    ...change,
  });

async function assertNameIsFree(tx: Tx, projectId: string, name: string): Promise<void> {
  if (await environmentByName(tx, projectId, name)) {
    throw new DomainError('already_exists', `There is already an environment named ${name} in this project`);
  }
}

export const environmentsRoutes = [
  defineRoute({
    operationId: 'createEnvironment',
    method: 'post',
    path: '/api/environments',
    group: GROUP,
    summary: 'Add an environment to a project',
    description: `A project has at most ${ENVIRONMENTS_MAX} environments.`,
    roles: ['owner'],
    body: EnvironmentIn,
    status: 201,
    response: Environment,
    errors: ['already_exists'],
    audit: 'environment.created',
    handle: ({ body: { repositoryIdentifier, ...fields } }, { tx }) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        await assertNameIsFree(work, project.id, fields.name);
        if ((await listEnvironments(work, project.id)).length >= ENVIRONMENTS_MAX) {
          throw new DomainError('invalid_request', `A project has at most ${ENVIRONMENTS_MAX} environments`);
        }
        const environment = work.em.create(EnvironmentEntity, {
          orgUsername: null,
          devHubUsername: null,
          approvalPolicy: null,
          tags: [],
          metadata: {},
          ...(fields as Partial<EnvironmentEntity> & Pick<EnvironmentEntity, 'name' | 'category'>),
          tenantId: work.tenantId,
          projectId: project.id,
        });
        await work.em.flush();
        audit(work, 'environment.created', environment, project, { after: stateOf(environment) });
        return view(work, environment, project);
      }),
  }),
  defineRoute({
    operationId: 'listEnvironments',
    method: 'get',
    path: '/api/environments',
    group: GROUP,
    summary: 'The environments of a project, in the order in which releases travel through them',
    roles: ANY_ROLE,
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      category: z.enum(ENVIRONMENT_CATEGORIES).optional(),
    }),
    status: 200,
    response: z.array(Environment),
    handle: ({ query: { repositoryIdentifier, category } }, { tx }) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        return viewAll(work, await listEnvironments(work, project.id, category), project);
      }),
  }),
  defineRoute({
    operationId: 'getEnvironment',
    method: 'get',
    path: '/api/environments/{id}',
    group: GROUP,
    summary: 'One environment',
    roles: ANY_ROLE,
    params,
    status: 200,
    response: Environment,
    handle: ({ params: { id } }, { tx }) =>
      tx(async (work) => {
        const { environment, project } = await environmentById(work, id);
        return view(work, environment, project);
      }),
  }),
  defineRoute({
    operationId: 'updateEnvironment',
    method: 'patch',
    path: '/api/environments/{id}',
    group: GROUP,
    summary: 'Change an environment',
    description: 'Members that are absent stay as they are; objects and arrays are replaced whole.',
    roles: ['owner'],
    params,
    body: EnvironmentPatch,
    status: 200,
    response: Environment,
    errors: ['already_exists', 'version_conflict'],
    audit: 'environment.updated',
    handle: ({ params: { id }, body: { version, ...fields } }, { tx }) =>
      tx(async (work) => {
        const { environment, project } = await environmentById(work, id, { isLocked: true });
        if (version !== undefined && version !== environment.version) {
          throw versionConflict('The environment', environment.version);
        }
        const isRenamed = fields.name !== undefined && fields.name !== environment.name;
        if (isRenamed && fields.name !== undefined) await assertNameIsFree(work, project.id, fields.name);
        const before = stateOf(environment);
        work.em.assign(environment, fields as Partial<EnvironmentEntity>, { mergeObjectProperties: false });
        await work.em.flush();
        audit(work, 'environment.updated', environment, project, { before, after: stateOf(environment) });
        return view(work, environment, project);
      }),
  }),
  defineRoute({
    operationId: 'deleteEnvironment',
    method: 'delete',
    path: '/api/environments/{id}',
    group: GROUP,
    summary: 'Remove an environment with the records of its deployments',
    roles: ['owner'],
    params,
    status: 204,
    response: NoContent,
    audit: 'environment.deleted',
    async handle({ params: { id } }, { tx }) {
      await tx(async (work) => {
        const { environment, project } = await environmentById(work, id, { isLocked: true });
        await work.em.remove(environment).flush();
        audit(work, 'environment.deleted', environment, project, { before: stateOf(environment) });
      });
    },
  }),
];
