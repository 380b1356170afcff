import { z } from 'zod';
import { INTEGRATION_KINDS } from '../../domain/integrations/integration-rules.ts';
import {
  changeIntegration,
  createIntegration,
  deleteIntegration,
} from '../../domain/integrations/integrations.mutations.ts';
import { INTEGRATIONS_MAX, integrationById, listIntegrations } from '../../domain/integrations/integrations.queries.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { defineRoute } from '../http/define-route.ts';
import { Id, NoContent, RepositoryIdentifier } from '../http/parameters.ts';
import type { Scope } from '../http/scope.ts';
import { Integration, IntegrationIn, IntegrationPatch } from './integrations.schemas.ts';

const GROUP = 'Integrations';
const params = z.object({ id: Id });

const partsOf = ({ adapters }: Scope) => ({
  encryption: adapters.encryption,
  outbound: adapters.webhooks.outbound,
});

export const integrationsRoutes = [
  defineRoute({
    operationId: 'createIntegration',
    method: 'post',
    path: '/api/integrations',
    group: GROUP,
    summary: 'Create an integration: the credentials of an external system',
    description:
      'A kind has at most one integration for the tenant and one for each project; a project uses its own, else the one of the tenant.',
    roles: ['owner'],
    body: IntegrationIn,
    status: 201,
    response: Integration,
    errors: ['already_exists'],
    audit: 'integration.created',
    handle: ({ body }, scope) => scope.tx((work) => createIntegration(work, partsOf(scope), body)),
  }),
  defineRoute({
    operationId: 'listIntegrations',
    method: 'get',
    path: '/api/integrations',
    group: GROUP,
    summary: 'The integrations of the tenant, without their credentials',
    description: `By kind, the one of the tenant before those of projects; at most ${INTEGRATIONS_MAX}.`,
    roles: ['owner'],
    query: z.strictObject({
      kind: z.enum(INTEGRATION_KINDS).optional(),
      repositoryIdentifier: RepositoryIdentifier.optional(),
    }),
    status: 200,
    response: z.array(Integration),
    async handle({ query: { kind, repositoryIdentifier } }, { reads }) {
      const project =
        repositoryIdentifier === undefined ? undefined : await projectInRequest(reads, repositoryIdentifier);
      return listIntegrations(reads, { kind, projectId: project?.id });
    },
  }),
  defineRoute({
    operationId: 'getIntegration',
    method: 'get',
    path: '/api/integrations/{id}',
    group: GROUP,
    summary: 'One integration, without its credentials',
    roles: ['owner'],
    params,
    status: 200,
    response: Integration,
    handle: ({ params: { id } }, { reads }) => integrationById(reads, id),
  }),
  defineRoute({
    operationId: 'updateIntegration',
    method: 'patch',
    path: '/api/integrations/{id}',
    group: GROUP,
    summary: 'Change an integration; new credentials replace the old ones',
    roles: ['owner'],
    params,
    body: IntegrationPatch,
    status: 200,
    response: Integration,
    errors: ['version_conflict'],
    audit: 'integration.updated',
    handle: ({ params: { id }, body }, scope) => scope.tx((work) => changeIntegration(work, partsOf(scope), id, body)),
  }),
  defineRoute({
    operationId: 'deleteIntegration',
    method: 'delete',
    path: '/api/integrations/{id}',
    group: GROUP,
    summary: 'Delete an integration and its credentials',
    roles: ['owner'],
    params,
    status: 204,
    response: NoContent,
    audit: 'integration.deleted',
    handle: ({ params: { id } }, { tx }) => tx((work) => deleteIntegration(work, id)),
  }),
];
