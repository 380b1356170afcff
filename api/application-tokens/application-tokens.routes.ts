import { z } from 'zod';
import {
  createApplicationToken,
  revokeApplicationToken,
  rotateApplicationToken,
} from '../../domain/application-tokens/application-tokens.mutations.ts';
import { listApplicationTokens } from '../../domain/application-tokens/application-tokens.queries.ts';
import { defineRoute } from '../http/define-route.ts';
import { Id, NoContent } from '../http/parameters.ts';
import {
  ApplicationToken,
  ApplicationTokenIn,
  NewApplicationToken,
  TokenRotation,
} from './application-tokens.schemas.ts';

const GROUP = 'Application tokens';

export const applicationTokensRoutes = [
  defineRoute({
    operationId: 'createApplicationToken',
    method: 'post',
    path: '/api/application-tokens',
    group: GROUP,
    summary: 'Create a token for a pipeline or a worker',
    description: 'The token is shown in this reply alone. An unknown project: 400.',
    roles: ['owner'],
    body: ApplicationTokenIn,
    status: 201,
    response: NewApplicationToken,
    errors: ['already_exists'],
    audit: 'application_token.created',
    handle: ({ body: { name, expiresIn, projects } }, { tx }) =>
      tx((work) => createApplicationToken(work, { name, expiresInDays: expiresIn, projects })),
  }),
  defineRoute({
    operationId: 'listApplicationTokens',
    method: 'get',
    path: '/api/application-tokens',
    group: GROUP,
    summary: 'The application tokens of the tenant, newest first',
    roles: ['owner'],
    status: 200,
    response: z.array(ApplicationToken),
    handle: (_, { reads }) => listApplicationTokens(reads),
  }),
  defineRoute({
    operationId: 'rotateApplicationToken',
    method: 'post',
    path: '/api/application-tokens/{id}/rotate',
    group: GROUP,
    summary: 'Rotate a token',
    description:
      'The new secret is shown in this reply alone. Name, projects and id stay. The previous secret works for `overlapHours` more, so that pipelines can change over without a gap; 0 ends it at once.',
    roles: ['owner'],
    params: z.object({ id: Id }),
    body: TokenRotation,
    status: 200,
    response: NewApplicationToken,
    audit: 'application_token.rotated',
    handle: ({ params: { id }, body: { expiresIn, overlapHours } }, { tx }) =>
      tx((work) => rotateApplicationToken(work, id, { expiresInDays: expiresIn, overlapHours })),
  }),
  defineRoute({
    operationId: 'deleteApplicationToken',
    method: 'delete',
    path: '/api/application-tokens/{id}',
    group: GROUP,
    summary: 'Revoke a token, effective on its next request',
    roles: ['owner'],
    params: z.object({ id: Id }),
    status: 204,
    response: NoContent,
    audit: 'application_token.revoked',
    handle: ({ params: { id } }, { tx }) => tx((work) => revokeApplicationToken(work, id)),
  }),
];
