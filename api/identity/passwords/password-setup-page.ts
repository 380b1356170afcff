import { PASSWORD_MIN } from '../../../domain/identity/passwords/password-rules.ts';
import { escapeHtml } from '../../../domain/kernel/text/html-rules.ts';
import { alarm, blamed, page, titled } from '../../http/server/html-page.ts';
import type { RawReply } from '../../http/replies.ts';

interface LinkForm {
  basePath: string;
  token: string;
  /** Shown, so that password managers save the password under it. */
  email: string;
  /** Slug of the tenant whose invitation is accepted. */
  tenant: string | undefined;
  hasPassword: boolean;
  error?: string | undefined;
}

const titleOf = ({ tenant }: Pick<LinkForm, 'tenant'>): string =>
  tenant === undefined ? 'Set your password' : `Invitation to ${tenant}`;

const passwordField = (error: string | undefined): string => `<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_MIN}" maxlength="1024"${blamed(error)} autofocus>
`;

/** The page on which an invited person accepts, and sets a password where there is none; works without scripts. */
export function passwordSetupPage(form: LinkForm): RawReply {
  const { basePath, token, email, tenant, hasPassword, error } = form;
  const rule = hasPassword
    ? 'You keep your password.'
    : `Set a password: at least ${PASSWORD_MIN} characters; a few words make a good one.`;
  const action = tenant === undefined ? 'Set the password' : 'Accept the invitation';
  return page(
    titled(titleOf(form), error),
    `<h1>${escapeHtml(titleOf(form))}</h1>
<p>For ${escapeHtml(email)}. ${rule}</p>
${alarm(error)}<form method="post" action="${escapeHtml(basePath)}/api/auth/set-password">
<input type="hidden" name="token" value="${escapeHtml(token)}">
<input type="text" name="username" value="${escapeHtml(email)}" autocomplete="username" hidden>
${hasPassword ? '' : passwordField(error)}<button type="submit">${action}</button>
</form>`,
  );
}

const signInLink = (basePath: string): string =>
  `<a class="button" href="${escapeHtml(basePath)}/api/auth/sign-in" autofocus>Sign in</a>`;

export const linkFollowedPage = ({ basePath, tenant, hasPassword }: LinkForm): RawReply => {
  const title = hasPassword ? 'You have accepted the invitation' : 'Your password is set';
  const place = tenant === undefined ? '' : ` to ${escapeHtml(tenant)}`;
  return page(
    title,
    `<h1>${title}</h1>\n<p>You can sign in${place} ${hasPassword ? 'now' : 'with it now'}.</p>\n${signInLink(basePath)}`,
  );
};

export const spentLinkPage = (basePath: string, error: string): RawReply =>
  page(
    titled('Set your password', error),
    `<h1>This link does not work</h1>\n${alarm(`${error}.`)}${signInLink(basePath)}`,
  );
