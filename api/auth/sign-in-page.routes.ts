import { isOwnPath, parseFrontDoorLink } from '../../domain/auth/own-path-rules.ts';
import { COOKIE_SECONDS, type Proof } from '../../domain/auth/sessions.mutations.ts';
import type { PendingSignIn } from '../../domain/auth/identity-provider.port.ts';
import { DomainError, invalidField } from '../../domain/shared/errors.ts';
import { definePublicRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { type RawReply, reply, type Reply } from '../http/replies.ts';
import type { PublicScope } from '../http/scope.ts';
import { ContinueQuery, FormIn, NextQuery, ReturnQuery } from './sign-in-page.schemas.ts';
import { codePage, failedPage, goOnPage, signInPage } from './sign-in-page.ts';

/** Where a sign-in without a link leads. */
const DEFAULT_NEXT = '/docs';
/** A sign-in at the identity provider may take so long. */
const PENDING_SECONDS = 600;
const PENDING_CONTEXT = 'sign-in at the identity provider';
const RETURN_PATH = '/api/auth/oidc/return';
const NO_BODY = undefined as unknown as void;

interface Pending extends PendingSignIn {
  next: string;
  tenant?: string | undefined;
  expiresAt: number;
}

const basePathOf = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, '');

/** The target of a redirect after sign-in. Throws for one that is not a path of the service. */
function ownPath(next: string | undefined, publicUrl: string): string {
  const basePath = basePathOf(publicUrl);
  const target = next ?? basePath + DEFAULT_NEXT;
  if (!isOwnPath(target, basePath)) throw invalidField('next', 'must be a path of this service');
  return target;
}

const raw = (page: RawReply, status: number, cookies: readonly string[] = []): Reply<never> =>
  reply(page as never, { status, cookies });

const redirect = (location: string, cookies: readonly string[] = []): Reply<void> =>
  reply(NO_BODY, { status: 302, headers: { Location: location }, cookies });

const sessionCookie = async (proof: Proof, { adapters, cookies, requestId }: PublicScope): Promise<string> =>
  cookies.write('qs_session', await adapters.auth.sessions.beginWithCookie(proof, requestId), COOKIE_SECONDS);

/** Answers a form that was refused by the same form, with the reason. */
function refusedForm(
  { email, tenant }: { email: string; tenant: string },
  next: string,
  scope: PublicScope,
  error: string,
  status: number,
) {
  const { adapters, publicUrl } = scope;
  const hasIdentityProvider = adapters.auth.identityProvider?.browser !== undefined;
  return raw(signInPage({ basePath: basePathOf(publicUrl), next, email, tenant, error, hasIdentityProvider }), status);
}

export const signInPageRoutes = [
  definePublicRoute({
    operationId: 'continueToOrg',
    method: 'get',
    path: '/api/auth/continue',
    group: 'Authentication',
    summary: 'Follow a link to an org: by its review environment or its front door, after a sign-in page when needed',
    description:
      'With a session (cookie or bearer): 302 to `/review-env/{assignmentId}` when `repository` is given and an active review assignment exists for `targetOrg`, else to the front door of the org. Without one: the sign-in page, which returns to the same link.',
    query: ContinueQuery,
    status: 302,
    otherStatuses: [200],
    response: NoContent,
    contentType: 'text/html',
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
        return raw(
          signInPage({ basePath, next, hasIdentityProvider: adapters.auth.identityProvider?.browser !== undefined }),
          200,
        );
      }
      const { targetOrg, repository } = link;
      const assignmentId =
        repository === undefined
          ? undefined
          : await adapters.auth.findReviewAssignment?.(actor, { targetOrg, repository });
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
    summary: 'The sign-in page',
    description: '`next` is the path of this service to go to afterwards; any other target is 400.',
    query: NextQuery,
    status: 200,
    response: NoContent,
    contentType: 'text/html',
    async handle({ query }, { adapters, publicUrl }) {
      const next = ownPath(query.next, publicUrl);
      return raw(
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
    summary: 'Take the form of the sign-in page',
    description:
      'Begins a browser session and answers a page that goes on to `next`. Where a second factor is set up, answers the form for its code first. A wrong password answers the form again with 401, too many failures with 429.',
    body: FormIn,
    bodyType: 'form',
    status: 200,
    response: NoContent,
    contentType: 'text/html',
    errors: ['unauthenticated', 'forbidden'],
    takesCredential: true,
    audit: 'auth.signed_in',
    async handle({ body }, scope) {
      const { adapters, address, isFromOwnPage, publicUrl } = scope;
      const next = ownPath(body.next, publicUrl);
      const basePath = basePathOf(publicUrl);
      // Otherwise another site could sign somebody in as somebody else.
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
            return raw(goOnPage(next), 200, [await sessionCookie(result.proof, scope)]);
          case 'code_needed':
            return raw(codePage({ basePath, next, ticket: result.ticket }), 200);
          case 'code_refused':
            return raw(
              codePage({ basePath, next, ticket: result.ticket, error: 'The code is wrong or was used before.' }),
              401,
            );
          case 'refused': {
            const error =
              ticket === undefined ? 'The e-mail or the password is wrong.' : 'That took too long. Sign in again.';
            return refusedForm(body, next, scope, error, 401);
          }
        }
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'rate_limited') throw error;
        return refusedForm(body, next, scope, `${error.message}.`, 429);
      }
    },
  }),
  definePublicRoute({
    operationId: 'startOidcSignIn',
    method: 'get',
    path: '/api/auth/oidc/start',
    group: 'Authentication',
    summary: 'Begin a sign-in at the configured OpenID provider',
    description:
      'Authorization code with PKCE. Redirects to the provider; `next` is the path of this service to go to afterwards.',
    query: NextQuery,
    status: 302,
    response: NoContent,
    errors: ['upstream_error', 'upstream_timeout'],
    takesCredential: true,
    async handle(
      { query },
      {
        adapters: {
          auth: { identityProvider },
          encryption,
        },
        cookies,
        now,
        publicUrl,
      },
    ) {
      const next = ownPath(query.next, publicUrl);
      if (!identityProvider?.browser) throw new DomainError('not_found', 'No identity provider is configured');
      const begun = await identityProvider.browser.begin(publicUrl + RETURN_PATH);
      if (begun.outcome === 'failed') {
        return raw(
          failedPage(basePathOf(publicUrl), next, 'The identity provider is not reachable.'),
          begun.reason === 'timeout' ? 504 : 502,
        );
      }
      const pending: Pending = {
        ...begun.pending,
        next,
        tenant: query.tenant,
        expiresAt: now().getTime() + PENDING_SECONDS * 1_000,
      };
      return redirect(begun.url, [
        cookies.write('qs_oidc', encryption.encrypt(JSON.stringify(pending), PENDING_CONTEXT), PENDING_SECONDS),
      ]);
    },
  }),
  definePublicRoute({
    operationId: 'completeOidcSignIn',
    method: 'get',
    path: RETURN_PATH,
    group: 'Authentication',
    summary: 'Where the OpenID provider sends the browser back to',
    description:
      'Begins a browser session and redirects to the path that the sign-in was begun with. What fails answers a page with the reason.',
    query: ReturnQuery,
    status: 302,
    response: NoContent,
    errors: ['upstream_error', 'upstream_timeout'],
    takesCredential: true,
    async handle(_, scope) {
      const { adapters, cookies, publicUrl, requestUrl } = scope;
      const basePath = basePathOf(publicUrl);
      const pending = openPending(scope);
      const fail = (error: string, status: number) =>
        raw(failedPage(basePath, pending?.next ?? basePath + DEFAULT_NEXT, error), status, [cookies.clear('qs_oidc')]);
      if (!pending || !adapters.auth.identityProvider?.browser)
        return fail('The sign-in was begun too long ago, or in another browser.', 400);
      const { search } = new URL(requestUrl, publicUrl);
      const checked = await adapters.auth.identityProvider.browser.complete(publicUrl + RETURN_PATH + search, pending);
      if (checked.outcome === 'failed')
        return fail('The identity provider is not reachable.', checked.reason === 'timeout' ? 504 : 502);
      if (checked.outcome === 'invalid')
        return fail('The identity provider did not confirm who you are, or gave no verified e-mail.', 401);
      const proof = await adapters.auth.signIn.byIdentity(checked.identity, pending.tenant);
      if (!proof) return fail('Nobody with your e-mail is a member here.', 403);
      return redirect(pending.next, [await sessionCookie(proof, scope), cookies.clear('qs_oidc')]);
    },
  }),
];

/** What this browser began, when it was not too long ago. */
function openPending({ adapters: { encryption }, cookies, now }: PublicScope): Pending | undefined {
  try {
    const pending = JSON.parse(encryption.decrypt(cookies.get('qs_oidc') ?? '', PENDING_CONTEXT)) as Pending;
    return pending.expiresAt > now().getTime() ? pending : undefined;
  } catch {
    return undefined;
  }
}
