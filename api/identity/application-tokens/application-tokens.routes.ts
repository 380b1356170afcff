import { z } from 'zod';
import {
  createApplicationToken,
  revokeApplicationToken,
  rotateApplicationToken,
} from '../../../domain/identity/application-tokens/application-tokens.mutations.ts';
import { listApplicationTokens } from '../../../domain/identity/application-tokens/application-tokens.queries.ts';
import { defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
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
    summary: 'Create an application token',
    description: 'For pipelines and workers. The token is only shown in this reply. An unknown project gets 400.',
    roles: ['owner'],
    projectScope: 'refused',
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
    summary: 'List application tokens, newest first',
    roles: ['owner'],
    projectScope: 'refused',
    status: 200,
    response: z.array(ApplicationToken),
    handle: (_, { reads }) => listApplicationTokens(reads),
  }),
  defineRoute({
    operationId: 'rotateApplicationToken',
    method: 'post',
    path: '/api/application-tokens/{id}/rotate',
    group: GROUP,
    summary: 'Rotate an application token',
    description:
      'Id, name and projects remain; the new token is only shown in this reply. The previous token remains valid for `overlapHours`, so that pipelines can switch without interruption; 0 revokes it immediately.',
    roles: ['owner'],
    projectScope: 'refused',
    params: byId,
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
    summary: 'Revoke an application token',
    roles: ['owner'],
    projectScope: 'refused',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'application_token.revoked',
    handle: ({ params: { id } }, { tx }) => tx((work) => revokeApplicationToken(work, id)),
  }),
];
