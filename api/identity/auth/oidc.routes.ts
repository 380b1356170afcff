import type { PendingSignIn } from '../../../domain/identity/auth/identity-provider.port.ts';
import type { Proof } from '../../../domain/identity/auth/sessions.mutations.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { basePathOf, htmlReply } from '../../http/server/html-page.ts';
import { NoContent } from '../../http/parameters.ts';
import type { PublicScope } from '../../http/scope.ts';
import { ownPath, redirect, sessionCookie } from './browser-sign-in.ts';
import { NextQuery, ReturnQuery } from './sign-in-page.schemas.ts';
import { failedPage } from './sign-in-page.ts';

/** Time to complete a sign-in with the identity provider. */
const PENDING_SECONDS = 600;
const PENDING_CONTEXT = 'sign-in at the identity provider';
const RETURN_PATH = '/api/auth/oidc/return';

interface Pending extends PendingSignIn {
  next: string;
  tenant?: string | undefined;
  /** The request did not come from a page of this service. */
  isLinked: boolean;
  expiresAt: number;
}

export const oidcRoutes = [
  definePublicRoute({
    operationId: 'startOidcSignIn',
    method: 'get',
    path: '/api/auth/oidc/start',
    group: 'Authentication',
    summary: 'Start a sign-in with the OpenID provider',
    description:
      'Redirects to the configured provider (authorization code flow with PKCE). `next` is the path of this service to go to after the sign-in.',
    query: NextQuery,
    status: 302,
    response: NoContent,
    contentTypes: ['text/html'],
    errors: ['upstream_error', 'upstream_timeout'],
    takesCredential: true,
    async handle({ query }, { adapters, cookies, isFromOwnPage, now, publicUrl }) {
      const { encryption } = adapters;
      const { identityProvider } = adapters.auth;
      const next = ownPath(query.next, publicUrl);
      if (!identityProvider?.browser) throw new DomainError('not_found', 'No identity provider is configured');
      const begun = await identityProvider.browser.begin(publicUrl + RETURN_PATH);
      if (begun.outcome === 'failed') {
        return htmlReply(
          failedPage(basePathOf(publicUrl), next, 'The identity provider is not reachable.'),
          begun.reason === 'timeout' ? 504 : 502,
        );
      }
      const pending: Pending = {
        ...begun.pending,
        next,
        tenant: query.tenant,
        isLinked: !isFromOwnPage,
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
    summary: 'Complete a sign-in with the OpenID provider',
    description:
      'The provider redirects the browser to this route. Starts a browser session and redirects to the path given at the start of the sign-in; a failure shows a page with the reason.',
    query: ReturnQuery,
    status: 302,
    response: NoContent,
    contentTypes: ['text/html'],
    errors: ['unauthenticated', 'forbidden', 'ambiguous', 'upstream_error', 'upstream_timeout'],
    takesCredential: true,
    async handle(_, scope) {
      const { adapters, cookies, publicUrl, requestUrl } = scope;
      const basePath = basePathOf(publicUrl);
      const pending = openPending(scope);
      const fail = (error: string, status: number) =>
        htmlReply(failedPage(basePath, pending?.next ?? ownPath(undefined, publicUrl), error), status, [
          cookies.clear('qs_oidc'),
        ]);
      if (!pending || !adapters.auth.identityProvider?.browser)
        return fail('The sign-in was started too long ago or in another browser.', 400);
      const { search } = new URL(requestUrl, publicUrl);
      const checked = await adapters.auth.identityProvider.browser.complete(publicUrl + RETURN_PATH + search, pending);
      if (checked.outcome === 'failed')
        return fail('The identity provider is not reachable.', checked.reason === 'timeout' ? 504 : 502);
      if (checked.outcome === 'invalid')
        return fail('The identity provider did not confirm your identity or did not give a verified e-mail.', 401);
      let proof: Proof | undefined;
      try {
        proof = await adapters.auth.signIn.byIdentity(checked.identity, pending.tenant, pending);
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'ambiguous') throw error;
        return fail(`${error.message}.`, 409);
      }
      if (!proof) return fail('Your e-mail does not belong to a member of this tenant.', 403);
      return redirect(pending.next, [await sessionCookie(proof, scope), cookies.clear('qs_oidc')]);
    },
  }),
];

/** The sign-in that this browser started; undefined if there is none or it has expired. */
function openPending({ adapters: { encryption }, cookies, now }: PublicScope): Pending | undefined {
  try {
    const pending = JSON.parse(encryption.decrypt(cookies.get('qs_oidc') ?? '', PENDING_CONTEXT)) as Pending;
    return pending.expiresAt > now().getTime() ? pending : undefined;
  } catch {
    return undefined;
  }
}
