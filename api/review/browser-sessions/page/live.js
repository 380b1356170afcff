/** The page on which a browser session is watched. */
import { takeInput } from './live-input.js';

const { id, base } = document.body.dataset;
const page = `${base}/browser-sessions/${id}/live`;
const api = `${base}/api/browser-sessions/${id}`;
const element = (name) => document.getElementById(name);
const POLL_MS = 1_000;
const BACKOFF_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
const HEADER_BYTES = 20;
const ENDS = {
  stopped: 'It was stopped.',
  cancelled: 'It was cancelled with the flow run that asked for it.',
  assignment_ended: 'The pull request gave its org back.',
  browser_closed: 'The browser was closed.',
  expired: 'Its time was up.',
  no_capacity: 'No host had a free slot for it.',
  provisioning_timeout: 'It did not start in time.',
  front_door_refused: 'The org was not opened.',
  navigation_failed: 'The page of the org did not load.',
  provider_error: 'Its provider failed.',
  provider_unavailable: 'Its provider could not be reached.',
  host_lost: 'The host that ran it was lost.',
  session_lost: 'Its provider lost it.',
  resource_limit: 'It used up its memory, disk or traffic.',
  run_failed: 'The run that was to execute it failed.',
};

let socket;
let you;
let controller = null;
let mayControl = false;
let watching = { tab: null, follows: true };
/** By which tabs ask. */
let dialogs = [];
/** The one that is shown. */
let dialog;
let tabs = [];
let endsAt;
let attempt = 0;
let isOver = false;
/** What the host said of the end: links end with their session, and then nobody else says it. */
let toldEnd;

const controls = () => controller !== null && controller === you;
const send = (message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
};
const notice = (text) => {
  element('notice').textContent = text;
};

/** Shows a state in place of the picture; none: the picture. */
function showState(title, text = '') {
  const isShown = title !== undefined;
  element('state').hidden = !isShown;
  if (isShown) {
    element('state-title').textContent = title;
    element('state-text').textContent = text;
  }
  for (const name of ['work', 'watchers']) element(name).hidden = isShown;
  if (isShown) element('screen').hidden = true;
}

async function readState() {
  try {
    const answer = await fetch(`${page}/state`, { headers: { accept: 'application/json' }, cache: 'no-store' });
    if (answer.status === 404 || answer.status === 401) return { status: 'refused' };
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Looks at the session again and again, until it is live and shown, or over. */
async function follow() {
  while (!isOver) {
    const state = await readState();
    if (!state) {
      showState('The service is away', 'Connecting again …');
      await backoff();
      continue;
    }
    element('extend').hidden = element('stop').hidden = !(state.viewer?.mayChange && !state.hasEnded);
    if (state.expiresAt && state.status === 'live') endsAt = Date.now() + state.leftMs;
    if (state.status === 'refused' && toldEnd) {
      over('The session has ended', reasonOf(toldEnd.reason, toldEnd.detail));
    } else if (state.status === 'refused') {
      over(
        'You are not let in any more',
        'The link was revoked, has expired or ended with its session, or you were signed out.',
      );
    } else if (state.hasEnded) {
      await showEnd(state);
    } else if (state.status === 'provisioning') {
      showState('The browser is starting', 'This page opens it by itself.');
      await later(POLL_MS);
    } else if (state.view !== 'own') {
      // It stands in a frame, or at another address, which the page is made with.
      if (document.body.dataset.view !== state.view) location.reload();
      await later(POLL_MS * 5);
    } else {
      await watch(state.viewer.mayControl);
      if (!isOver) await backoff();
    }
  }
}

async function backoff() {
  const ms = BACKOFF_MS[Math.min(attempt++, BACKOFF_MS.length - 1)];
  await later(ms * (0.75 + Math.random() / 2));
}

const reasonOf = (reason, detail) => [ENDS[reason], detail].filter(Boolean).join(' ');

function showOver(title, text) {
  endsAt = undefined;
  showTime();
  notice('');
  for (const name of ['extend', 'stop', 'recorded']) element(name).hidden = true;
  showState(title, text);
}

function over(title, text) {
  isOver = true;
  showOver(title, text);
}

async function showEnd({ statusReason, statusDetail, recording, viewer }) {
  const why = reasonOf(statusReason, statusDetail);
  showOver('The session has ended', why);
  if (recording.state === 'recording' || recording.state === 'processing') {
    element('state-text').textContent = `${why} Its recording is being put in order …`;
    await later(POLL_MS * 2);
    return;
  }
  isOver = true;
  if (!viewer.isSignedIn || (recording.state !== 'ready' && recording.state !== 'partial')) return;
  const answer = await fetch(`${api}/replays`, { headers: { accept: 'application/json' } });
  const { pages } = answer.ok ? await answer.json() : { pages: [] };
  const canPlay = document.createElement('video').canPlayType('application/vnd.apple.mpegurl') !== '';
  const items = pages.map(({ pageId, title, url }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = url;
    link.textContent = `Recording of tab ${Number(pageId) + 1}${title ? `: ${title}` : ''}`;
    if (canPlay)
      link.addEventListener('click', (event) => {
        event.preventDefault();
        play(url, link);
      });
    item.append(link);
    return item;
  });
  element('recordings').replaceChildren(...items);
}

function play(url, link) {
  const video = document.createElement('video');
  video.controls = true;
  video.autoplay = true;
  video.src = url;
  video.setAttribute('aria-label', link.textContent);
  const back = document.createElement('button');
  back.type = 'button';
  back.textContent = 'Back to the recordings';
  const bar = document.createElement('div');
  bar.className = 'bar';
  bar.append(back, link.textContent);
  back.addEventListener('click', () => {
    video.remove();
    bar.remove();
    element('state').hidden = false;
    link.focus();
  });
  element('state').hidden = true;
  element('stage').before(bar);
  element('stage').append(video);
  video.focus();
}

/** Watches until the socket closes. */
function watch(may) {
  mayControl = may;
  const address = new URL(`${page}/socket${may ? '?mode=control' : ''}`, location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  socket = new WebSocket(address);
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') receive(JSON.parse(data));
    else void draw(data);
  });
  return new Promise((resolve) => {
    socket.addEventListener('close', () => {
      controller = null;
      showControl();
      showState('The browser is not reached', 'Connecting again …');
      resolve();
    });
  });
}

/** What is decoded last is what was taken last. */
let drawn = 0;
async function draw(data) {
  const view = new DataView(data);
  const number = view.getUint32(4);
  const from = socket;
  try {
    const picture = await createImageBitmap(new Blob([new Uint8Array(data, HEADER_BYTES)], { type: 'image/jpeg' }));
    const canvas = element('picture');
    if (from === socket && number > drawn && view.getUint16(2) === watching.tab) {
      drawn = number;
      if (canvas.width !== picture.width) canvas.width = picture.width;
      if (canvas.height !== picture.height) canvas.height = picture.height;
      canvas.dataset.width = String(view.getUint16(16));
      canvas.dataset.height = String(view.getUint16(18));
      canvas.getContext('2d', { alpha: false }).drawImage(picture, 0, 0);
      canvas.dataset.pictures = String(Number(canvas.dataset.pictures ?? 0) + 1);
    }
    picture.close();
  } finally {
    send({ type: 'seen', number });
  }
}

function receive(message) {
  switch (message.type) {
    case 'welcome':
      you = message.you;
      drawn = 0;
      attempt = 0;
      mayControl = message.mayControl;
      element('recorded').hidden = !message.isRecorded;
      showState(undefined);
      element('screen').hidden = false;
      break;
    case 'tabs':
      ({ tabs } = message);
      showTabs();
      break;
    case 'watching':
      watching = message;
      showTabs();
      showDialog();
      break;
    case 'time':
      endsAt = Date.now() + message.leftMs;
      break;
    case 'people':
      controller = message.controller;
      showPeople(message.people);
      showControl();
      break;
    case 'dialogs':
      ({ dialogs } = message);
      showDialog();
      break;
    case 'notice':
      notice(message.text);
      break;
    case 'end':
      toldEnd = message;
      break;
    default:
  }
}

const ASKED = {
  alert: { title: 'says', accept: 'OK' },
  confirm: { title: 'asks', accept: 'OK', dismiss: 'Cancel' },
  prompt: { title: 'asks', accept: 'OK', dismiss: 'Cancel' },
  beforeunload: { title: 'is about to be left', accept: 'Leave', dismiss: 'Stay' },
};

const FOCUSED = { prompt: 'dialog-text', alert: 'dialog-accept' };

/** Shows by what the watched tab asks, else another one; the answer is given by the one who controls. */
function showDialog() {
  const before = dialog;
  dialog = dialogs.find(({ tab }) => tab === watching.tab) ?? dialogs[0];
  element('dialog').hidden = !dialog;
  if (!dialog) {
    if (before && controls()) element('typing').focus({ preventScroll: true });
    return;
  }
  const { title, accept, dismiss } = ASKED[dialog.kind];
  const isOther = dialog.tab !== before?.tab || dialog.number !== before?.number;
  element('dialog-title').textContent =
    `${dialog.tab === watching.tab ? 'The page' : `Tab ${dialog.tab + 1}`} ${title}`;
  element('dialog-message').textContent =
    dialog.kind === 'beforeunload' ? 'What was entered there may be lost.' : dialog.message;
  element('dialog-answer').hidden = dialog.kind !== 'prompt' || !controls();
  if (isOther) element('dialog-text').value = dialog.proposal;
  element('dialog-hint').hidden = controls();
  element('dialog-buttons').hidden = !controls();
  element('dialog-accept').textContent = accept;
  element('dialog-dismiss').hidden = !dismiss;
  element('dialog-dismiss').textContent = dismiss ?? '';
  // Not the button that accepts: what is being typed must not agree to anything.
  if (isOther && controls()) element(FOCUSED[dialog.kind] ?? 'dialog-dismiss').focus();
}

function answerDialog(accept) {
  if (!dialog || !controls()) return;
  const { tab, number, kind } = dialog;
  const text = accept && kind === 'prompt' ? { text: element('dialog-text').value } : {};
  send({ type: 'answer', tab, dialog: number, accept, ...text });
}

const isBlank = (text) => !text || text === 'about:blank';

function showTabs() {
  const list = element('tabs');
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.of : undefined;
  list.replaceChildren(
    ...tabs.map(({ number, title, url }) => {
      const name = isBlank(title) ? (isBlank(url) ? 'Blank' : url) : title;
      const item = document.createElement('li');
      const shown = tabButton(name, `tab-${number}`, () => send({ type: 'watch', tab: number }));
      shown.title = `${name}\n${url}`;
      shown.setAttribute('aria-pressed', String(number === watching.tab));
      item.append(shown);
      if (controls() && tabs.length > 1) {
        item.className = 'closable';
        const close = tabButton('×', `close-${number}`, () => send({ type: 'close', tab: number }));
        close.setAttribute('aria-label', `Close tab ${name}`);
        item.append(close);
      }
      return item;
    }),
  );
  if (focused) [...list.querySelectorAll('button')].find(({ dataset }) => dataset.of === focused)?.focus();
  const tab = tabs.find(({ number }) => number === watching.tab);
  element('picture').setAttribute('aria-label', `Picture of the browser: ${tab?.title || 'a page without a title'}`);
  if (document.activeElement !== element('url')) element('url').value = isBlank(tab?.url) ? '' : tab.url;
  element('follow').hidden = watching.follows;
}

function tabButton(text, of, act) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.dataset.of = of;
  button.addEventListener('click', act);
  return button;
}

function showPeople(people) {
  element('people').replaceChildren(
    ...people.map(({ id: who, name }) => {
      const item = document.createElement('li');
      item.textContent = `${name}${who === you ? ' (you)' : ''}${who === controller ? ' – in control' : ''}`;
      if (who === controller) item.className = 'controls';
      return item;
    }),
  );
}

function showControl() {
  const has = controls();
  const button = element('control');
  button.hidden = !mayControl;
  button.textContent = has ? 'Leave control' : 'Take control';
  button.classList.toggle('main', !has);
  element('stage').classList.toggle('controlled', has);
  element('typing').hidden = !has;
  element('hint').hidden = !has;
  for (const name of ['back', 'forward', 'reload', 'url', 'go', 'open']) element(name).disabled = !has;
  showTabs();
  showDialog();
}

function showTime() {
  const time = element('time');
  time.hidden = endsAt === undefined;
  if (endsAt === undefined) return;
  const left = Math.max(0, Math.round((endsAt - Date.now()) / 1000));
  time.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')} left`;
  time.classList.toggle('short', left < 60);
}

/** Asks the service to change the session, and says why it did not. */
async function change(what, body) {
  try {
    const answer = await fetch(`${api}/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const session = await answer.json();
    if (!answer.ok) {
      notice(session.detail ?? 'The service refused that.');
      return undefined;
    }
    return session;
  } catch {
    notice('The service was not reached.');
    return undefined;
  }
}

element('extend').addEventListener('click', async () => {
  const session = await change('extend', { minutes: 10 });
  if (session) notice(`The session lasts until ${new Date(session.expires_at).toLocaleTimeString()}.`);
});
element('stop').addEventListener('click', async () => {
  if (confirm('Stop the session for everybody? Its recording is kept.')) await change('stop');
});
element('control').addEventListener('click', () => {
  const takes = !controls();
  notice('');
  send({ type: 'control', take: takes });
});
element('dialog')?.addEventListener('submit', (event) => {
  event.preventDefault();
  answerDialog(true);
});
element('dialog')?.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') answerDialog(false);
});
element('dialog-dismiss')?.addEventListener('click', () => answerDialog(false));
element('follow').addEventListener('click', () => send({ type: 'watch', tab: null }));
element('open').addEventListener('click', () => send({ type: 'open' }));
for (const to of ['back', 'forward', 'reload'])
  element(to).addEventListener('click', () => send({ type: 'history', to }));
element('address').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = element('url').value.trim();
  const url = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
    send({ type: 'go', url });
    element('typing').focus();
  } else notice('Only http and https addresses can be opened.');
});

if (element('picture')) {
  takeInput({
    canvas: element('picture'),
    typing: element('typing'),
    send,
    isActive: controls,
    leave: () => element('control').focus(),
  });
}
setInterval(showTime, 500);
void follow();
