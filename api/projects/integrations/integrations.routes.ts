import { z } from 'zod';
import { INTEGRATION_KINDS } from '../../../domain/projects/integrations/integration-rules.ts';
import {
  changeIntegration,
  createIntegration,
  deleteIntegration,
} from '../../../domain/projects/integrations/integrations.mutations.ts';
import {
  INTEGRATIONS_MAX,
  integrationById,
  listIntegrations,
} from '../../../domain/projects/integrations/integrations.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { defineRoute } from '../../http/define-route.ts';
import { byId, NoContent, RepositoryIdentifier } from '../../http/parameters.ts';
import type { Scope } from '../../http/scope.ts';
import { Integration, IntegrationIn, IntegrationPatch } from './integrations.schemas.ts';

const GROUP = 'Integrations';

const partsOf = ({ adapters }: Scope) => ({
  encryption: adapters.encryption,
  outbound: adapters.hosts,
});

export const integrationsRoutes = [
  defineRoute({
    operationId: 'createIntegration',
    method: 'post',
    path: '/api/integrations',
    group: GROUP,
    summary: 'Store the credentials of an external system',
    description:
      'Each kind can have one integration for the tenant and one per project; a project uses its own, otherwise that of the tenant.',
    roles: ['owner'],
    projectScope: 'refused',
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
    summary: 'List integrations',
    description: `Ordered by kind, with the integration of the tenant before those of projects; at most ${INTEGRATIONS_MAX}. Credentials are never returned.`,
    roles: ['owner'],
    projectScope: 'refused',
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
    summary: 'Get an integration',
    roles: ['owner'],
    projectScope: 'refused',
    params: byId,
    status: 200,
    response: Integration,
    handle: ({ params: { id } }, { reads }) => integrationById(reads, id),
  }),
  defineRoute({
    operationId: 'updateIntegration',
    method: 'patch',
    path: '/api/integrations/{id}',
    group: GROUP,
    summary: 'Update an integration',
    roles: ['owner'],
    projectScope: 'refused',
    params: byId,
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
    projectScope: 'refused',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'integration.deleted',
    handle: ({ params: { id } }, { tx }) => tx((work) => deleteIntegration(work, id)),
  }),
];
