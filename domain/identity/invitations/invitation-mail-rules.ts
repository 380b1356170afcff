import { escapeHtml } from '../../kernel/text/html-rules.ts';

interface Invited {
  to: string;
  /** Slug of the tenant. */
  tenant: string;
  /** E-mail of the owner who invites. */
  invitedBy: string;
  link: string;
  /** What the link is for. */
  purpose: 'accept' | 'password' | 'sign-in';
  /** For which the link works. */
  days: number;
}

const ACTION = { accept: 'Accept the invitation', password: 'Set your password', 'sign-in': 'Sign in' };

/**
 * The invitation as plain text and as HTML that says the same. It repeats no text that the inviting owner chose, so
 * that nobody can be sent words in the service's name.
 */
export function invitationMail({ to, tenant, invitedBy, link, purpose, days }: Invited) {
  const subject = `Invitation to ${tenant} on Quayside`;
  const opening = `${invitedBy} has invited you to ${tenant} on Quayside.`;
  const action = ACTION[purpose];
  const note =
    purpose === 'sign-in'
      ? 'You sign in with the password that you have, or through your organization.'
      : `The link works once and for ${days} days.`;
  const closing = 'If you did not expect this, do nothing.';
  return {
    to,
    subject,
    text: [opening, '', `${action}:`, link, '', note, closing, ''].join('\n'),
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="font: 16px/1.5 system-ui, sans-serif; color: #16202c">
<p>${escapeHtml(opening)}</p>
<p><a href="${escapeHtml(link)}">${action}</a></p>
<p>${note}<br>${closing}</p>
</body>
</html>
`,
  };
}
