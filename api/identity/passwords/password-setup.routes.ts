import { z } from 'zod';
import { followLink, SPENT_LINK } from '../../../domain/identity/invitations/invitations.mutations.ts';
import type { Invited } from '../../../domain/identity/invitations/invitations.queries.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { basePathOf, htmlReply } from '../../http/server/html-page.ts';
import { NoContent } from '../../http/parameters.ts';
import type { PublicScope } from '../../http/scope.ts';
import { linkFollowedPage, passwordSetupPage, spentLinkPage } from './password-setup-page.ts';
import { LinkQuery, PasswordForm, PasswordSetup } from './passwords.schemas.ts';

const follow = ({ adapters, actingAs }: PublicScope, input: Parameters<typeof followLink>[1]): Promise<Invited> =>
  followLink({ findInvited: adapters.invitations.findInvited, actingAs }, input);

/** What is done on the page of a link. */
const formOf = (basePath: string, token: string, { actor, invitationId, hasPassword }: Invited) => ({
  basePath,
  token,
  email: actor.email,
  tenant: invitationId === undefined ? undefined : actor.tenantSlug,
  hasPassword,
});

export const passwordSetupRoutes = [
  definePublicRoute({
    operationId: 'setInitialPassword',
    method: 'post',
    path: '/api/auth/password-setup',
    group: 'Authentication',
    summary: 'Accept an invitation with its token, and set the initial password',
    description:
      'The token is part of the link in the invitation. It is valid for three days and can be used once. Accepts the invitation; a password that the user already has remains valid, and `newPassword` is then not used.',
    body: PasswordSetup,
    status: 200,
    response: z.object({ success: z.literal(true), email: z.string() }),
    takesCredential: true,
    audit: ['user.password_set', 'user.invitation_accepted'],
    async handle({ body: { token, newPassword } }, scope) {
      const { actor } = await follow(scope, { token, password: newPassword, field: 'newPassword' });
      return { success: true as const, email: actor.email };
    },
  }),
  definePublicRoute({
    operationId: 'getPasswordSetupPage',
    method: 'get',
    path: '/api/auth/set-password',
    group: 'Authentication',
    summary: 'Show the page on which an invited person accepts and sets a password',
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
        ? htmlReply(passwordSetupPage(formOf(basePath, token, invited)), 200)
        : htmlReply(spentLinkPage(basePath, SPENT_LINK), 400);
    },
  }),
  definePublicRoute({
    operationId: 'submitPasswordSetupForm',
    method: 'post',
    path: '/api/auth/set-password',
    group: 'Authentication',
    summary: 'Submit the form of an invited person',
    description: 'A weak password gets 400 and the form again, with the reason.',
    body: PasswordForm,
    bodyType: 'form',
    status: 200,
    response: NoContent,
    contentTypes: ['text/html'],
    takesCredential: true,
    audit: ['user.password_set', 'user.invitation_accepted'],
    async handle({ body: { token, password } }, scope) {
      const basePath = basePathOf(scope.publicUrl);
      try {
        const invited = await follow(scope, { token, password, field: 'password' });
        return htmlReply(linkFollowedPage(formOf(basePath, token, invited)), 200);
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'invalid_request') throw error;
        const invited = await scope.adapters.invitations.findInvited(token);
        if (!invited) return htmlReply(spentLinkPage(basePath, SPENT_LINK), 400);
        return htmlReply(passwordSetupPage({ ...formOf(basePath, token, invited), error: `${error.message}.` }), 400);
      }
    },
  }),
];
