import { readFileSync } from 'node:fs';
import { escapeHtml } from '../../../domain/kernel/text/html-rules.ts';
import { basePathOf, page } from '../../http/server/html-page.ts';
import { RawReply } from '../../http/replies.ts';

const fileOf = (name: string): Buffer => readFileSync(new URL(`./page/${name}`, import.meta.url));

/** What the page loads, beside pictures. */
export const LIVE_ASSETS = {
  'live.css': { type: 'text/css; charset=utf-8', body: fileOf('live.css') },
  'live.js': { type: 'text/javascript; charset=utf-8', body: fileOf('live.js') },
  'live-input.js': { type: 'text/javascript; charset=utf-8', body: fileOf('live-input.js') },
} as const;

/** How a session is shown: as pictures with a script or without, in a frame of its provider, or at another address. */
export type LivePageView =
  | { kind: 'own' }
  | { kind: 'mjpeg'; state: string; isLive: boolean }
  | { kind: 'frame'; url: string }
  | { kind: 'link'; url: string }
  | { kind: 'none'; why: string };

export interface LivePage {
  publicUrl: string;
  sessionId: string;
  /** What the session shows: `PR 12`. */
  subject: string;
  repositoryIdentifier: string;
  view: LivePageView;
}

/** Nothing but our own files, our own sockets, and the frame of the provider where one is shown. */
function policy({ publicUrl, view }: LivePage): string {
  const { host, protocol } = new URL(publicUrl);
  const socket = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self' blob:",
    `connect-src 'self' ${socket}`,
    `frame-src ${view.kind === 'frame' ? new URL(view.url).origin : "'none'"}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Headers of every answer of the page: kept nowhere, and its address told nobody. */
const headersOf = (live: LivePage) => ({
  'Content-Security-Policy': policy(live),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
});

const MJPEG_REFRESH_SECONDS = 3;

/** The page on which a session is watched. */
export function livePage(live: LivePage): RawReply {
  const { publicUrl, sessionId, subject, repositoryIdentifier, view } = live;
  const base = basePathOf(publicUrl);
  const own = `${base}/browser-sessions/${sessionId}/live`;
  const isPlain = view.kind === 'mjpeg';
  const refresh = isPlain && !view.isLive ? `<meta http-equiv="refresh" content="${MJPEG_REFRESH_SECONDS}">\n` : '';
  const script = isPlain ? '' : `<script type="module" src="${base}/browser-session-assets/live.js"></script>\n`;
  return new RawReply(
    'text/html; charset=utf-8',
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Browser of ${escapeHtml(subject)} – Quayside</title>
${refresh}<link rel="stylesheet" href="${base}/browser-session-assets/live.css">
${script}</head>
<body data-id="${sessionId}" data-base="${escapeHtml(base)}" data-view="${view.kind}">
<header>
<h1>Browser of ${escapeHtml(subject)}<small>${escapeHtml(repositoryIdentifier)}</small></h1>
<span class="grow"></span>
${isPlain ? `<a class="button" href="${own}">With controls</a>` : HEADER}
</header>
<main>
${isPlain ? plain(view, `${own}/pictures`) : scripted(view, own)}
</main>
</body>
</html>
`,
    headersOf(live),
  );
}

const HEADER = `<span class="hint" id="recorded" hidden>Recorded</span>
<span class="time" id="time" role="timer" hidden></span>
<button type="button" id="extend" hidden>Extend by 10 minutes</button>
<button type="button" id="stop" class="stop" hidden>Stop</button>`;

const DIALOG = `<form id="dialog" role="alertdialog" aria-labelledby="dialog-title" aria-describedby="dialog-message" hidden>
<h2 id="dialog-title"></h2><p id="dialog-message"></p>
<label id="dialog-answer" hidden>Your answer<input id="dialog-text" maxlength="1000" autocomplete="off"></label>
<p class="hint" id="dialog-hint">Whoever controls the browser answers.</p>
<div class="bar" id="dialog-buttons" hidden><span class="grow"></span><button type="button" id="dialog-dismiss"></button>
<button type="submit" id="dialog-accept" class="main"></button></div></form>`;

const plain = (view: LivePageView & { kind: 'mjpeg' }, pictures: string): string =>
  view.isLive
    ? `<div id="stage"><img src="${pictures}" alt="Picture of the browser, which changes with it"></div>
<p class="hint">These are pictures alone: the page needs no script, and takes no input.</p>`
    : `<div id="stage"><div id="state"><h2>${escapeHtml(view.state)}</h2></div></div>`;

function scripted(view: LivePageView, own: string): string {
  const frame =
    view.kind === 'frame'
      ? `<iframe src="${escapeHtml(view.url)}" title="Browser of the provider" sandbox="allow-scripts allow-same-origin allow-forms" referrerpolicy="no-referrer"></iframe>`
      : '';
  const elsewhere =
    view.kind === 'link'
      ? `<h2>The browser is shown at another address</h2><p><a href="${escapeHtml(view.url)}" rel="noreferrer">${escapeHtml(view.url)}</a></p>`
      : view.kind === 'none'
        ? `<h2>The browser is not shown here</h2><p>${escapeHtml(view.why)}</p>`
        : `<h2 id="state-title">Connecting …</h2><p id="state-text"></p><ul id="recordings"></ul><noscript><p><a href="${own}?view=mjpeg">Watch without a script</a></p></noscript>`;
  return `<div id="work" hidden>
<div class="bar"><ul id="tabs" aria-label="Tabs"></ul>
<button type="button" id="open" disabled>New tab</button>
<button type="button" id="follow" hidden>Follow</button>
<span class="grow"></span>
<button type="button" id="control" class="main" hidden>Take control</button></div>
<div class="bar">
<button type="button" class="icon" id="back" aria-label="Back" disabled>←</button>
<button type="button" class="icon" id="forward" aria-label="Forward" disabled>→</button>
<button type="button" class="icon" id="reload" aria-label="Reload" disabled>↻</button>
<form id="address"><input id="url" aria-label="Address of the page" autocomplete="off" spellcheck="false" inputmode="url" maxlength="4000" disabled>
<button type="submit" id="go" disabled>Go</button></form></div>
</div>
<div id="stage">
<div id="screen" hidden><canvas id="picture" role="img" aria-label="Picture of the browser" width="1280" height="720"></canvas>
<textarea id="typing" aria-label="Typing goes to the browser; F6 leaves it" autocomplete="off" autocapitalize="off" spellcheck="false" hidden></textarea>
${DIALOG}</div>
${frame}<div id="state" aria-live="polite"${frame ? ' hidden' : ''}>${elsewhere}</div>
</div>
<div id="watchers" class="bar" hidden><h2 id="watching">Watching</h2><ul id="people" aria-labelledby="watching"></ul>
<span class="grow"></span><p class="hint" id="hint" hidden>You work in the browser. <kbd>F6</kbd> leaves the picture.</p></div>
<p id="notice" role="status"></p>`;
}

/** Says nothing of whether there is such a session. */
export const noSessionPage = (): RawReply =>
  page(
    'Not found',
    `<h1>There is nothing to see here</h1>
<p>The browser session does not exist, belongs to others, or the link to it was revoked or has expired.</p>`,
  );
