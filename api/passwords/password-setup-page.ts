import { PASSWORD_MIN } from '../../domain/passwords/password-rules.ts';
import { escapeHtml } from '../../domain/shared/html-rules.ts';
import { alarm, blamed, page, titled } from '../http/html-page.ts';
import type { RawReply } from '../http/replies.ts';

interface SetupForm {
  basePath: string;
  token: string;
  /** Shown, so that password managers save the password under it. */
  email: string;
  error?: string | undefined;
}

/** The page on which an invited person sets a password; works without scripts. */
export const passwordSetupPage = ({ basePath, token, email, error }: SetupForm): RawReply =>
  page(
    titled('Set your password', error),
    `<h1>Set your password</h1>
<p>For ${escapeHtml(email)}. At least ${PASSWORD_MIN} characters; a few words make a good one.</p>
${alarm(error)}<form method="post" action="${escapeHtml(basePath)}/api/auth/set-password">
<input type="hidden" name="token" value="${escapeHtml(token)}">
<input type="text" name="username" value="${escapeHtml(email)}" autocomplete="username" hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_MIN}" maxlength="1024"${blamed(error)} autofocus>
<button type="submit">Set the password</button>
</form>`,
  );

const signInLink = (basePath: string): string =>
  `<a class="button" href="${escapeHtml(basePath)}/api/auth/sign-in" autofocus>Sign in</a>`;

export const passwordSetPage = (basePath: string): RawReply =>
  page(
    'Your password is set',
    `<h1>Your password is set</h1>\n<p>You can sign in with it now.</p>\n${signInLink(basePath)}`,
  );

export const spentLinkPage = (basePath: string, error: string): RawReply =>
  page(
    titled('Set your password', error),
    `<h1>This link does not work</h1>\n${alarm(`${error}.`)}${signInLink(basePath)}`,
  );
