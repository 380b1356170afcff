import { z } from 'zod';
import { setFirstPassword, SPENT_LINK } from '../../domain/invitations/invitations.mutations.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { definePublicRoute } from '../http/define-route.ts';
import { basePathOf, htmlReply } from '../http/html-page.ts';
import { NoContent } from '../http/parameters.ts';
import type { PublicScope } from '../http/scope.ts';
import { passwordSetPage, passwordSetupPage, spentLinkPage } from './password-setup-page.ts';
import { LinkQuery, PasswordForm, PasswordSetup } from './passwords.schemas.ts';

const setPassword = (
  { adapters, actingAs }: PublicScope,
  input: { token: string; password: string; field: string },
): Promise<string> => setFirstPassword({ findInvited: adapters.invitations.findInvited, actingAs }, input);

export const passwordSetupRoutes = [
  definePublicRoute({
    operationId: 'setInitialPassword',
    method: 'post',
    path: '/api/auth/password-setup',
    group: 'Authentication',
    summary: 'Set the initial password with the token of an invitation',
    description:
      'The token is part of the link in the invitation. It is valid for three days, can be used once, and only for a user without a password.',
    body: PasswordSetup,
    status: 200,
    response: z.object({ success: z.literal(true), email: z.string() }),
    takesCredential: true,
    audit: 'user.password_set',
    async handle({ body: { token, newPassword } }, scope) {
      return {
        success: true as const,
        email: await setPassword(scope, { token, password: newPassword, field: 'newPassword' }),
      };
    },
  }),
  definePublicRoute({
    operationId: 'getPasswordSetupPage',
    method: 'get',
    path: '/api/auth/set-password',
    group: 'Authentication',
    summary: 'Show the page on which an invited person sets a password',
    description: 'A link that is unknown, spent or has expired gets 400 and a page that says so.',
    query: LinkQuery,
    status: 200,
    response: NoContent,
    contentTypes: ['text/html'],
    takesCredential: true,
    async handle({ query: { token } }, { adapters, publicUrl }) {
      const basePath = basePathOf(publicUrl);
      const invited = await adapters.invitations.findInvited(token);
      return invited
        ? htmlReply(passwordSetupPage({ basePath, token, email: invited.email }), 200)
        : htmlReply(spentLinkPage(basePath, SPENT_LINK), 400);
    },
  }),
  definePublicRoute({
    operationId: 'submitPasswordSetupForm',
    method: 'post',
    path: '/api/auth/set-password',
    group: 'Authentication',
    summary: 'Submit the password form of an invited person',
    description: 'A weak password gets 400 and the form again, with the reason.',
    body: PasswordForm,
    bodyType: 'form',
    status: 200,
    response: NoContent,
    contentTypes: ['text/html'],
    takesCredential: true,
    audit: 'user.password_set',
    async handle({ body: { token, password } }, scope) {
      const basePath = basePathOf(scope.publicUrl);
      try {
        await setPassword(scope, { token, password, field: 'password' });
        return htmlReply(passwordSetPage(basePath), 200);
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'invalid_request') throw error;
        const invited = await scope.adapters.invitations.findInvited(token);
        if (!invited) return htmlReply(spentLinkPage(basePath, SPENT_LINK), 400);
        return htmlReply(passwordSetupPage({ basePath, token, email: invited.email, error: `${error.message}.` }), 400);
      }
    },
  }),
];
