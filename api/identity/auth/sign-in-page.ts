import { escapeHtml } from '../../../domain/kernel/text/html-rules.ts';
import { alarm, blamed, page, titled } from '../../http/server/html-page.ts';
import type { RawReply } from '../../http/replies.ts';

export interface SignInForm {
  basePath: string;
  /** The path to go to afterwards. */
  next: string;
  email?: string;
  tenant?: string;
  error?: string | undefined;
  hasIdentityProvider: boolean;
}

/** The page that asks for e-mail and password; works without scripts. */
export function signInPage({
  basePath,
  next,
  email = '',
  tenant = '',
  error,
  hasIdentityProvider,
}: SignInForm): RawReply {
  const provider = hasIdentityProvider
    ? `<div class="or" role="separator">or</div>
<a class="button second" href="${escapeHtml(`${basePath}/api/auth/oidc/start?${new URLSearchParams({ next })}`)}">Continue with single sign-on</a>`
    : '';
  // Focus the first field that is still empty.
  const [emailFocus, passwordFocus] = email === '' ? [' autofocus', ''] : ['', ' autofocus'];
  return page(
    titled('Sign in', error),
    `<h1>Sign in</h1>
<p>Sign in to Quayside to continue.</p>
${alarm(error)}<form method="post" action="${escapeHtml(basePath)}/api/auth/sign-in">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${escapeHtml(email)}"${emailFocus}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${blamed(error)}${passwordFocus}>
<label for="tenant">Tenant <span class="hint">(optional)</span></label>
<input id="tenant" name="tenant" type="text" autocomplete="organization" autocapitalize="none" spellcheck="false" maxlength="40" pattern="[a-z0-9\\-]{1,40}" title="Lower-case letters, digits and hyphens" value="${escapeHtml(tenant)}">
<button type="submit">Sign in</button>
</form>
${provider}`,
  );
}

/** The second step: the code of the second factor. */
export const codePage = ({
  basePath,
  next,
  ticket,
  error,
}: {
  basePath: string;
  next: string;
  ticket: string;
  error?: string;
}): RawReply =>
  page(
    titled('Enter your code', error),
    `<h1>Enter your code</h1>
<p>Open your authenticator app and enter the six-digit code, or one of your recovery codes.</p>
${alarm(error)}<form method="post" action="${escapeHtml(basePath)}/api/auth/sign-in">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<input type="hidden" name="ticket" value="${escapeHtml(ticket)}">
<label for="code">Code</label>
<input id="code" name="code" class="code" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="24"${blamed(error)} autofocus>
<button type="submit">Continue</button>
</form>
<p><a href="${escapeHtml(`${basePath}/api/auth/sign-in?${new URLSearchParams({ next })}`)}">Start over</a></p>`,
  );

/**
 * Continues after the form was accepted. Not by a redirect: some browsers apply the form's policy to every redirect that
 * follows, and the front door leads to an org, at another site.
 */
export const continuePage = (next: string): RawReply =>
  page(
    'Signed in',
    `<h1>You are signed in</h1>
<p><a href="${escapeHtml(next)}">Continue</a></p>`,
    `<meta http-equiv="refresh" content="0;url=${escapeHtml(next)}">\n`,
  );

/** Shows why a sign-in with the identity provider failed, with a link to try again. */
export const failedPage = (basePath: string, next: string, error: string): RawReply =>
  page(
    titled('Sign in', error),
    `<h1>Sign-in failed</h1>
${alarm(error)}<a class="button" href="${escapeHtml(`${basePath}/api/auth/sign-in?${new URLSearchParams({ next })}`)}" autofocus>Try again</a>`,
  );
