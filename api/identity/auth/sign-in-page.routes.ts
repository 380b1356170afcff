import { parseFrontDoorLink } from '../../../domain/identity/auth/front-door-rules.ts';
import { DomainError, invalidField } from '../../../domain/kernel/shared/errors.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { basePathOf, htmlReply } from '../../http/server/html-page.ts';
import { NoContent } from '../../http/parameters.ts';
import type { PublicScope } from '../../http/scope.ts';
import { ownPath, redirect, sessionCookie } from './browser-sign-in.ts';
import { ContinueQuery, FormIn, NextQuery } from './sign-in-page.schemas.ts';
import { codePage, continuePage, signInPage } from './sign-in-page.ts';

/** Shows the form again, with the reason for which it was refused. */
function refusedForm(
  { email, tenant }: { email: string; tenant: string },
  next: string,
  scope: PublicScope,
  error: string,
  status: number,
) {
  const { adapters, publicUrl } = scope;
  const hasIdentityProvider = adapters.auth.identityProvider?.browser !== undefined;
  return htmlReply(
    signInPage({ basePath: basePathOf(publicUrl), next, email, tenant, error, hasIdentityProvider }),
    status,
  );
}

export const signInPageRoutes = [
  definePublicRoute({
    operationId: 'continueToOrg',
    method: 'get',
    path: '/api/auth/continue',
    group: 'Authentication',
    summary: 'Open an org through its review environment or its front door',
    description:
      'With a session (cookie or bearer token), redirects to `/review-env/{assignmentId}` if `repository` is given and `targetOrg` has an active review assignment, otherwise to the front door of the org. Without a session, shows the sign-in page, which returns to this link.',
    query: ContinueQuery,
    status: 302,
    otherStatuses: [200],
    response: NoContent,
    contentTypes: ['text/html'],
    async handle({ query: { action, params } }, scope) {
      const { adapters, caller, publicUrl } = scope;
      const link = parseFrontDoorLink(params);
      if (!link)
        throw invalidField(
          'params',
          'must be targetOrg:<name>, and optionally repository:<identifier> and prodOrg:<name>',
        );
      const basePath = basePathOf(publicUrl);
      const actor = await caller();
      if (!actor) {
        const next = `${basePath}/api/auth/continue?${new URLSearchParams({ action, params })}`;
        return htmlReply(
          signInPage({ basePath, next, hasIdentityProvider: adapters.auth.identityProvider?.browser !== undefined }),
          200,
        );
      }
      const { targetOrg, repository } = link;
      const assignmentId =
        repository === undefined
          ? undefined
          : await adapters.auth.findReviewAssignment(actor, { targetOrg, repository });
      if (assignmentId !== undefined) return redirect(`${basePath}/review-env/${encodeURIComponent(assignmentId)}`);
      const { targetOrg: target, ...rest } = link;
      return redirect(`${basePath}/api/auth/crm/frontdoor?${new URLSearchParams({ target, ...rest })}`);
    },
  }),
  definePublicRoute({
    operationId: 'getSignInPage',
    method: 'get',
    path: '/api/auth/sign-in',
    group: 'Authentication',
    summary: 'Show the sign-in page',
    description: '`next` is the path of this service to go to after the sign-in; any other target gets 400.',
    query: NextQuery,
    status: 200,
    response: NoContent,
    contentTypes: ['text/html'],
    async handle({ query }, { adapters, publicUrl }) {
      const next = ownPath(query.next, publicUrl);
      return htmlReply(
        signInPage({
          basePath: basePathOf(publicUrl),
          next,
          hasIdentityProvider: adapters.auth.identityProvider?.browser !== undefined,
        }),
        200,
      );
    },
  }),
  definePublicRoute({
    operationId: 'submitSignInForm',
    method: 'post',
    path: '/api/auth/sign-in',
    group: 'Authentication',
    summary: 'Submit the form of the sign-in page',
    description:
      'Starts a browser session and returns a page that leads to `next`. For a user with a second factor, first returns the form for the code. A wrong password gets 401 and the form again, too many failed attempts get 429.',
    body: FormIn,
    bodyType: 'form',
    status: 200,
    response: NoContent,
    contentTypes: ['text/html'],
    errors: ['unauthenticated', 'forbidden', 'ambiguous'],
    takesCredential: true,
    audit: ['auth.signed_in', 'user.invitation_accepted'],
    async handle({ body }, scope) {
      const { adapters, address, isFromOwnPage, publicUrl } = scope;
      const next = ownPath(body.next, publicUrl);
      const basePath = basePathOf(publicUrl);
      // Otherwise another site could sign a visitor in to an account of its own.
      if (!isFromOwnPage)
        throw new DomainError('forbidden', 'The form must be sent from the sign-in page of this service');
      const { email, password, ticket, code } = body;
      const tenant = body.tenant || undefined;
      try {
        const result = await (ticket === undefined
          ? adapters.auth.signIn.byPassword({ email, password, tenant, address })
          : adapters.auth.signIn.byTicket(ticket, code));
        switch (result.outcome) {
          case 'proven':
            return htmlReply(continuePage(next), 200, [await sessionCookie(result.proof, scope)]);
          case 'code_needed':
            return htmlReply(codePage({ basePath, next, ticket: result.ticket }), 200);
          case 'code_refused':
            return htmlReply(
              codePage({ basePath, next, ticket: result.ticket, error: 'The code is wrong or has been used already.' }),
              401,
            );
          case 'refused': {
            const error =
              ticket === undefined ? 'The e-mail or the password is wrong.' : 'That took too long. Sign in again.';
            return refusedForm(body, next, scope, error, 401);
          }
        }
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (error.code === 'rate_limited') return refusedForm(body, next, scope, `${error.message}.`, 429);
        if (error.code === 'ambiguous') return refusedForm(body, next, scope, `${error.message}.`, 409);
        throw error;
      }
    },
  }),
];
