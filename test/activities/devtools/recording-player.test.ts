import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { playRecording } from '../../../activities/adapters/devtools/recording-player.ts';
import type { BrowserRecording } from '../../../domain/projects/policies/browser-recording-rules.ts';
import { readRecording } from '../../../domain/projects/policies/browser-recording.ts';
import type { StepEnd } from '../../../domain/review/browser-checks/recording-player.port.ts';
import { playedBrowser } from '../../support/played-browser.ts';

const FORM = `<title>Form</title>
  <label>Name <input id="name"></label>
  <select aria-label="Size"><option value="s">Small</option><option value="l">Large</option></select>
  <div contenteditable role="textbox" aria-label="Notes"></div>
  <button id="add" onclick="add()" ondblclick="document.title = 'Twice'" onmouseover="this.dataset.over = '1'">Add</button>
  <button disabled>Never</button><button style="display:none">Hidden</button>
  <ul></ul><x-card></x-card><a href="/next">Next</a><a href="/closed" target="_blank">Popup</a>
  <iframe src="/frame"></iframe><p style="height:3000px"></p>
  <script>
    function add() {
      const size = document.querySelector('select').value;
      document.querySelector('ul').insertAdjacentHTML('beforeend', '<li class="row" data-size="' + size + '">' + document.querySelector('#name').value + '</li>');
    }
    document.addEventListener('keydown', (event) => { document.body.dataset.key = event.key; });
    customElements.define('x-card', class extends HTMLElement {
      connectedCallback() {
        this.attachShadow({ mode: 'open' }).innerHTML = '<button id="inner">In the shadow</button>';
        this.shadowRoot.querySelector('button').onclick = () => { document.body.dataset.shadow = '1'; };
      }
    });
  </script>`;
const PAGES: Record<string, string> = {
  '/': FORM,
  '/next': '<title>Next</title><h1>Arrived</h1>',
  '/frame': '<title>Frame</title><button onclick="parent.document.body.dataset.framed = 1">Framed</button>',
  '/closed':
    '<title>Popup</title><button onclick="opener && (opener.document.body.dataset.popup = 1)">In the popup</button>',
};

let site: Server;
let url: string;
let browser: Awaited<ReturnType<typeof playedBrowser>>;
beforeAll(async () => {
  site = createServer(({ url: asked = '/' }, response) => {
    const [path = ''] = asked.split('?');
    const page = PAGES[path];
    response.setHeader('content-type', 'text/html');
    // Pages may forbid scripts that are made of text.
    response.setHeader('content-security-policy', "script-src 'self' 'unsafe-inline'");
    if (path === '/broken') response.statusCode = 500;
    else if (page === undefined) response.statusCode = 404;
    response.end(page ?? 'There is nothing');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  browser = await playedBrowser(`${url}/`);
});
afterEach(() => browser.close());
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const recordingOf = (steps: object[], more: object = {}): BrowserRecording => {
  const read = readRecording({ title: 'Form', timeout: 30_000, ...more, steps });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.recording;
};
interface Playing {
  recordedAt?: string;
  signal?: AbortSignal;
  onStep?: () => void;
}
async function play(steps: object[], { recordedAt, signal, onStep }: Playing = {}) {
  const ends: StepEnd[] = [];
  const end = await playRecording({ address: browser.address, token: 'token' }, recordingOf(steps), {
    recordedAt,
    onStep(step) {
      ends.push(step);
      onStep?.();
    },
    signal: signal ?? new AbortController().signal,
  });
  return { end, ends, failures: ends.flatMap(({ at, failure }) => (failure ? [{ at, ...failure }] : [])) };
}
const on = (...selectors: string[]) => ({ target: 'main', selectors: selectors.map((each) => [each]) });
const click = (...selectors: string[]) => ({ type: 'click', ...on(...selectors), offsetX: 5, offsetY: 5 });
const NAVIGATION = { assertedEvents: [{ type: 'navigation', url: 'https://elsewhere.test/', title: '' }] };
const VIEWPORT = { deviceScaleFactor: 1, isMobile: false, hasTouch: false, isLandscape: false };

test('a recording is played as it was recorded, by each kind of step and selector', async () => {
  const { end, ends, failures } = await play([
    { type: 'setViewport', width: 900, height: 600, ...VIEWPORT },
    { type: 'navigate', url: `${url}/`, ...NAVIGATION },
    { type: 'change', value: 'Ada', ...on('aria/Name') },
    { type: 'change', value: 'l', ...on('aria/Size[role="combobox"]') },
    { type: 'change', value: 'Some notes', ...on('aria/Notes') },
    { type: 'hover', ...on('text/Add') },
    click('#nothing', 'aria/Add'),
    {
      type: 'waitForElement',
      selectors: ['.row'],
      count: 1,
      attributes: { 'data-size': 'l' },
      properties: { textContent: 'Ada' },
    },
    { type: 'waitForElement', selectors: ['.spinner'], visible: false },
    { ...click('xpath///*[@id="add"]'), type: 'doubleClick' },
    {
      type: 'waitForExpression',
      expression: `document.title === 'Twice' && document.querySelectorAll('.row').length === 3`,
    },
    { type: 'click', target: 'main', selectors: [['x-card', '#inner']], offsetX: 2, offsetY: 2 },
    { type: 'click', target: 'main', selectors: ['pierce/#inner'], offsetX: 9_000, offsetY: 9_000 },
    { type: 'keyDown', target: 'main', key: 'Escape' },
    { type: 'keyUp', target: 'main', key: 'Escape' },
    { ...click('aria/Framed[role="button"]'), frame: [0] },
    { type: 'waitForExpression', expression: 'document.title === "Frame"', frame: [0] },
    { type: 'scroll', target: 'main', x: 0, y: 500 },
    { type: 'waitForExpression', expression: 'scrollY === 500' },
    { type: 'waitForExpression', expression: 'innerWidth === 900 && innerHeight === 600' },
    {
      type: 'waitForExpression',
      expression: 'Object.keys(document.body.dataset).sort().join() === "framed,key,shadow"',
    },
    click('aria/Popup'),
    { ...click('aria/In the popup'), target: `${url}/closed` },
    { type: 'close', target: `${url}/closed` },
    { ...click('aria/Next[role="link"]'), ...NAVIGATION },
    { type: 'waitForElement', selectors: ['aria/Arrived'] },
    {
      type: 'waitForExpression',
      expression: 'new Promise((resolve) => setTimeout(resolve, 10, location.pathname === "/next"))',
    },
  ]);
  expect(failures).toEqual([]);
  expect(end).toEqual({ kind: 'played' });
  expect(ends.map(({ at }) => at)).toEqual(ends.map((_, at) => at));
});

const MISSING = { type: 'waitForElement', selectors: ['.row'], timeout: 300 };
test.each<[string, () => object, string, RegExp]>([
  [
    'a selector that leads nowhere',
    () => ({ ...click('#nothing', 'aria/Nobody'), timeout: 300 }),
    'selector_not_found',
    /^None of its 2 selectors leads to a visible element within 0.3 s$/,
  ],
  [
    'a selector that is malformed',
    () => ({ ...click('a[[['), timeout: 300 }),
    'selector_not_found',
    /^The selector leads to no visible element/,
  ],
  ['an element that is hidden', () => ({ ...click('text/Hidden'), timeout: 300 }), 'selector_not_found', /visible/],
  ['an element that is disabled', () => ({ ...click('text/Never'), timeout: 300 }), 'not_actionable', /disabled/],
  [
    'an option that is not there',
    () => ({ type: 'change', value: 'xl', ...on('select'), timeout: 300 }),
    'not_actionable',
    /another kind/,
  ],
  [
    'text for a button',
    () => ({ type: 'change', value: 'x', ...on('#add'), timeout: 300 }),
    'not_actionable',
    /takes no such text|another kind/,
  ],
  [
    'an element that does not come',
    () => MISSING,
    'assertion_failed',
    /^0 elements were there after 0.3 s; expected >= 1$/,
  ],
  [
    'an element that does not go',
    () => ({ ...MISSING, selectors: ['#add'], visible: false }),
    'assertion_failed',
    /^1 element was .* expected not >= 1$/,
  ],
  [
    'an element that is gone by a selector that is malformed',
    () => ({ ...MISSING, selectors: ['.a['], visible: false }),
    'selector_not_found',
    /^What the selector leads to could not be found out within 0.3 s$/,
  ],
  [
    'no elements of a selector that is malformed',
    () => ({ ...MISSING, selectors: ['.a['], operator: '==', count: 0 }),
    'selector_not_found',
    /^What the selector leads to could not/,
  ],
  [
    'attributes that differ',
    () => ({ ...MISSING, selectors: ['#add'], attributes: { id: 'sub' } }),
    'assertion_failed',
    /^1 element was .* >= 1 with such attributes/,
  ],
  [
    'an expression that stays false',
    () => ({ type: 'waitForExpression', expression: '1 > 2', timeout: 300 }),
    'assertion_failed',
    /was not true/,
  ],
  [
    'an expression that throws',
    () => ({ type: 'waitForExpression', expression: 'nothing.there', timeout: 300 }),
    'assertion_failed',
    /threw/,
  ],
  [
    'a navigation that does not follow',
    () => ({ ...click('aria/Add'), ...NAVIGATION, timeout: 3_000 }),
    'assertion_failed',
    /^No navigation followed/,
  ],
  [
    'a page that is not there',
    () => ({ ...click('a'), target: 'https://nowhere.test/', timeout: 300 }),
    'target_not_found',
    /^The page was not there/,
  ],
  [
    'a frame that is not there',
    () => ({ ...click('a'), frame: [0, 7], timeout: 300 }),
    'target_not_found',
    /^The frame 0\/7/,
  ],
  [
    'a page that is answered with an error',
    () => ({ type: 'navigate', url: `${url}/broken?token=SECRET` }),
    'navigation_failed',
    /^http:\/\/127.0.0.1:\d+\/broken was answered with 500$/,
  ],
  [
    'a script that never ends',
    () => ({ type: 'waitForExpression', expression: '(() => { while (true) {} })()', timeout: 300 }),
    'timed_out',
    /^It took longer than 0.3 s$/,
  ],
  [
    'a promise that is never kept',
    () => ({ type: 'waitForExpression', expression: 'new Promise(() => {})', timeout: 300 }),
    'timed_out',
    /^It took longer than 0.3 s$/,
  ],
])('%s fails the step, and no other is played', async (_, step, reason, detail) => {
  const { end, ends, failures } = await play([{ type: 'scroll', y: 1 }, step(), { type: 'scroll', y: 2 }]);
  expect(failures).toEqual([{ at: 1, reason, detail: expect.stringMatching(detail) }]);
  expect([end.kind, ends.length]).toEqual(['played', 2]);
  expect(JSON.stringify(ends)).not.toContain('SECRET');
});

test('what was recorded at another org is played where the browser begins', async () => {
  const { failures } = await play(
    [
      { type: 'navigate', url: 'https://dev.example/next' },
      { type: 'waitForExpression', expression: 'location.pathname === "/next"' },
    ],
    { recordedAt: 'https://dev.example' },
  );
  expect(failures).toEqual([]);
});

test('scripts of a recording see the page alone', async () => {
  const { failures } = await play([
    { type: 'waitForExpression', expression: 'typeof process === "undefined" && typeof require === "undefined"' },
    { type: 'waitForExpression', expression: 'typeof process === "undefined"', frame: [0] },
  ]);
  expect(failures).toEqual([]);
});

test('a browser that is lost, or lets nobody in, is no failure of a step', async () => {
  const refused = await playRecording({ address: browser.address, token: 'other' }, recordingOf([MISSING]), {
    onStep: () => undefined,
    signal: new AbortController().signal,
  });
  expect(refused).toEqual({ kind: 'lost', reason: 'The browser could not be connected to' });
  const steps = [
    { type: 'scroll', y: 1 },
    { ...MISSING, timeout: 120_000 },
  ];
  await expect(play(steps, { onStep: () => browser.kill() })).resolves.toMatchObject({
    end: { kind: 'lost' },
    failures: [],
  });
});

test('a site that the network does not reach is no failure of a step', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  for (const address of ['https://elsewhere.test/', `https://127.0.0.1:${port}/?key=SECRET`]) {
    const { end, ends } = await play([{ type: 'navigate', url: address }]);
    expect([end, ends]).toEqual([{ kind: 'lost', reason: expect.stringMatching(/^Step 1 .*reached \(net::ERR_/) }, []]);
    expect(JSON.stringify(end)).not.toContain('SECRET');
  }
});

test('what only the name of is known of is looked for within what leads to it', async () => {
  const { failures } = await play([
    { type: 'waitForElement', selectors: [['aria/Size', 'aria/Large']], count: 1 },
    { type: 'waitForElement', selectors: [['x-card', 'aria/In the shadow']], count: 1 },
    { type: 'waitForElement', selectors: [['aria/Size', 'aria/Large', 'aria/Add']], visible: false },
  ]);
  expect(failures).toEqual([]);
});

test('a recording that is cancelled is not played any further', async () => {
  const cancelled = new AbortController();
  const steps = [{ type: 'scroll', y: 1 }, { ...MISSING, timeout: 120_000 }, click('aria/Add')];
  const onStep = () => cancelled.abort(new Error('cancelled'));
  const playing = play(steps, { signal: cancelled.signal, onStep });
  await expect(playing).rejects.toThrow('cancelled');
  expect(await browser.page.evaluate('document.querySelectorAll(".row").length')).toBe(0);
});
