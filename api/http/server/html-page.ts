import { createHash } from 'node:crypto';
import { escapeHtml } from '../../../domain/kernel/text/html-rules.ts';
import { RawReply, reply, type Reply } from '../replies.ts';

/** The path of the service's base URL, without a trailing slash. */
export const basePathOf = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, '');

/** A reply with a page instead of the route's body. */
export const htmlReply = (answer: RawReply, status: number, cookies: readonly string[] = []): Reply<RawReply> =>
  reply(answer, { status, cookies });

const STYLE = `
:root { color-scheme: light dark; --ink: #16202c; --soft: #536273; --paper: #f3f5f8; --card: #fff; --line: #8593a3; --accent: #0b5cad; --on-accent: #fff; --alarm: #b3141f; --alarm-paper: #fdeeee; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf3; --soft: #a9b6c4; --paper: #11161d; --card: #1a222c; --line: #6f7f90; --accent: #6db3ff; --on-accent: #06192d; --alarm: #ff9a9a; --alarm-paper: #3a1a1d; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 25rem; padding: 2rem; background: var(--card); border-radius: .75rem; box-shadow: 0 1px 2px #0002, 0 8px 32px #0000001a; }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
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
dl { margin: 1rem 0 1.25rem; display: grid; grid-template-columns: max-content 1fr; gap: .375rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 26rem) { dl { display: block; } dd { margin-bottom: .5rem; } }
button.second { background: transparent; color: var(--accent); }
`;

/** The page loads nothing; its style is allowed by hash, and its form may only be sent to this service. */
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
  // With `no-referrer`, browsers send the form with `Origin: null`, which could be any site.
  'Referrer-Policy': 'same-origin',
};

/** A complete HTML page that loads nothing. */
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
/** Attributes of the field that the error is about. */
export const blamed = (error: string | undefined): string =>
  error === undefined ? '' : ' aria-invalid="true" aria-describedby="error"';
export const titled = (title: string, error: string | undefined): string =>
  error === undefined ? title : `Error: ${title}`;
