import { createHash } from 'node:crypto';
import { escapeHtml } from '../../domain/shared/html-rules.ts';
import { RawReply } from '../http/replies.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #16202c; --soft: #536273; --paper: #f3f5f8; --card: #fff; --line: #8593a3; --accent: #0b5cad; --on-accent: #fff; --alarm: #b3141f; --alarm-paper: #fdeeee; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf3; --soft: #a9b6c4; --paper: #11161d; --card: #1a222c; --line: #6f7f90; --accent: #6db3ff; --on-accent: #06192d; --alarm: #ff9a9a; --alarm-paper: #3a1a1d; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 25rem; padding: 2rem; background: var(--card); border-radius: .75rem; box-shadow: 0 1px 2px #0002, 0 8px 32px #0000001a; }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1.25rem; color: var(--soft); }
label { display: block; margin: 1rem 0 .375rem; font-weight: 600; }
.hint { font-weight: 400; color: var(--soft); }
input { width: 100%; padding: .625rem .75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .375rem; }
input.code { letter-spacing: .2em; font-variant-numeric: tabular-nums; }
input[aria-invalid] { border-color: var(--alarm); }
button, .button { display: block; width: 100%; margin-top: 1.5rem; padding: .6875rem 1rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; border-radius: .375rem; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); }
.button.second { margin-top: 0; background: transparent; color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
form + p { margin: 1.25rem 0 0; }
.alarm { margin: 1rem 0; padding: .75rem 1rem; color: var(--alarm); background: var(--alarm-paper); border-left: 4px solid var(--alarm); border-radius: .25rem; }
.or { display: flex; align-items: center; gap: .75rem; margin: 1.25rem 0; color: var(--soft); }
.or::before, .or::after { content: ''; flex: 1; border-top: 1px solid var(--line); opacity: .5; }
a { color: var(--accent); }
`;

/** The page may load and call nothing; its one style is known by its hash, and its form goes back to the service. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cache-Control': 'no-store',
  // With none at all, browsers name no origin in the form's request, and it could not be told from another site's.
  'Referrer-Policy': 'same-origin',
};

/** A whole page of the service, which loads nothing. */
export const page = (title: string, content: string, head = ''): RawReply =>
  new RawReply(
    'text/html; charset=utf-8',
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Quayside</title>
${head}<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`,
    HEADERS,
  );

export const alarm = (error: string | undefined): string =>
  error === undefined ? '' : `<p class="alarm" id="error" role="alert" aria-live="assertive">${escapeHtml(error)}</p>`;
/** Marks a field as the one that the error is about. */
export const blamed = (error: string | undefined): string =>
  error === undefined ? '' : ' aria-invalid="true" aria-describedby="error"';
export const titled = (title: string, error: string | undefined): string =>
  error === undefined ? title : `Error: ${title}`;

export interface SignInForm {
  basePath: string;
  /** The path to go to afterwards. */
  next: string;
  email?: string;
  tenant?: string;
  error?: string | undefined;
  hasIdentityProvider: boolean;
}

/** The page that asks for e-mail and password. It needs no script. */
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
  // Focus goes where typing goes on: to the e-mail, or to the password when the e-mail is there already.
  const [emailFocus, passwordFocus] = email === '' ? [' autofocus', ''] : ['', ' autofocus'];
  return page(
    titled('Sign in', error),
    `<h1>Sign in</h1>
<p>Sign in to Quayside to go on.</p>
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
<p>Open your authenticator app and type the six digits that it shows, or one of your recovery codes.</p>
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
 * Sends the browser on after its form was accepted. Not by a redirect: some browsers apply the form's policy to every
 * redirect that follows, and the front door leads to an org, which is elsewhere.
 */
export const goOnPage = (next: string): RawReply =>
  page(
    'Signed in',
    `<h1>You are signed in</h1>
<p><a href="${escapeHtml(next)}">Continue</a></p>`,
    `<meta http-equiv="refresh" content="0;url=${escapeHtml(next)}">\n`,
  );

/** Why a sign-in by the identity provider came to nothing, with a way to try again. */
export const failedPage = (basePath: string, next: string, error: string): RawReply =>
  page(
    titled('Sign in', error),
    `<h1>Sign-in failed</h1>
${alarm(error)}<a class="button" href="${escapeHtml(`${basePath}/api/auth/sign-in?${new URLSearchParams({ next })}`)}" autofocus>Try again</a>`,
  );
