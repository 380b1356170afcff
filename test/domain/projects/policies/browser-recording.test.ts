import { readRecording, readRecordingFile } from '../../../../domain/projects/policies/browser-recording.ts';
import {
  type BrowserRecording,
  labelOfStep,
  movedTo,
  type RecordedStep,
  STEP_TYPES,
  STEPS_MAX,
} from '../../../../domain/projects/policies/browser-recording-rules.ts';
import { readSelectorPart } from '../../../../domain/projects/policies/element-selector-rules.ts';
import { isPlayedKey } from '../../../../domain/projects/policies/recorded-key-rules.ts';

const SELECTORS = [['aria/Save'], ['#save'], ['xpath///*[@id="save"]'], ['pierce/#save'], ['text/Save']];
const CLICK = { type: 'click', target: 'main', selectors: SELECTORS, offsetX: 20, offsetY: 10 };
const NAVIGATION = { type: 'navigation', url: 'https://acme.my.salesforce.com/', title: 'Home' };
const VIEWPORT = {
  width: 1_280,
  height: 720,
  deviceScaleFactor: 1,
  isMobile: false,
  hasTouch: false,
  isLandscape: false,
};
/** One of each type, as the Recorder exports them. */
const STEPS = [
  { type: 'setViewport', ...VIEWPORT },
  { type: 'navigate', url: 'https://acme.my.salesforce.com/?a=1', assertedEvents: [NAVIGATION] },
  CLICK,
  { ...CLICK, type: 'doubleClick', button: 'secondary', duration: 200, frame: [0, 1], timeout: 10_000 },
  { type: 'hover', target: 'main', selectors: SELECTORS },
  { type: 'change', value: 'hunter2', target: 'main', selectors: [['aria/Password']] },
  { type: 'keyDown', target: 'main', key: 'Enter' },
  { type: 'keyUp', key: 'q', target: 'main' },
  { type: 'scroll', x: 0, y: 400 },
  { type: 'close', target: 'https://acme.my.salesforce.com/popup' },
  {
    type: 'waitForElement',
    selectors: ['.row'],
    operator: '>=',
    count: 2,
    attributes: { role: 'row' },
    properties: { hidden: false },
  },
  { type: 'waitForExpression', expression: 'document.title === "Home"' },
];
const recording = (...steps: object[]) => ({ title: 'Smoke', steps });
const nested = (levels: number): object => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return recording({ type: 'waitForElement', selectors: ['a'], properties: { a: value } });
};
const problemsOf = (value: unknown) => {
  const read = readRecording(value);
  return 'problems' in read ? read.problems.map(({ path, message }) => `${path.join('/')}: ${message}`) : [];
};

test('every step that the Recorder exports and that is played is read as it is', () => {
  expect(STEPS.map(({ type }) => type)).toEqual(STEP_TYPES);
  const value = { ...recording(...STEPS), timeout: 5_000, selectorAttribute: 'data-testid' };
  expect(readRecording(value)).toEqual({ recording: value });
  expect(readRecordingFile(JSON.stringify(value))).toEqual(value);
});

test.each<[string, unknown, RegExp]>([
  ['no object', 'smoke', /^: must be an object/],
  ['endless levels', nested(100_000), /^: has more than 20 levels$/],
  ['no steps', recording(), /^steps: /],
  ['too many steps', recording(...Array.from({ length: STEPS_MAX + 1 }, () => STEPS[8] as object)), /^steps: /],
  [
    'a step of an extension',
    recording({ type: 'customStep', name: 'x', parameters: {} }),
    /^steps\/0(\/type)?: .*not played \(customStep\)/,
  ],
  ['a step without a type', recording({ url: 'https://x/' }), /^steps\/0(\/type)?: .*not played/],
  ['a member that is not known', recording({ ...CLICK, force: true }), /force/],
  ['a pen', recording({ ...CLICK, deviceType: 'pen' }), /^steps\/0\/deviceType: must be mouse/],
  ['a button that no page gets', recording({ ...CLICK, button: 'back' }), /^steps\/0\/button: /],
  ['a file', recording({ type: 'navigate', url: 'file:///etc/passwd' }), /^steps\/0\/url: must be an http/],
  [
    'a script as an address',
    recording({ type: 'navigate', url: 'javascript:alert(1)' }),
    /^steps\/0\/url: must be an http/,
  ],
  [
    'settings of the browser',
    recording({ type: 'navigate', url: 'chrome://settings' }),
    /^steps\/0\/url: must be an http/,
  ],
  ['a key that is none', recording({ type: 'keyDown', key: 'Power' }), /^steps\/0\/key: is no key that is played/],
  ['an endless step', recording({ ...CLICK, timeout: 10_000_000 }), /^steps\/0\/timeout: /],
  ['no selectors', recording({ ...CLICK, selectors: [] }), /^steps\/0\/selectors: /],
  ['too many selectors', recording({ ...CLICK, selectors: Array(21).fill('a') }), /^steps\/0\/selectors: /],
  ['a long selector', recording({ ...CLICK, selectors: ['a'.repeat(2_001)] }), /^steps\/0\/selectors\/0/],
  ['a selector of a player', recording({ ...CLICK, selectors: ['a >> internal:control=enter-frame'] }), /`>>`/],
  ['a role that is none', recording({ ...CLICK, selectors: ['aria/X[role="root"]'] }), /role root/],
  [
    'endless ways to an element',
    recording({ ...CLICK, selectors: [['aria/A', 'aria/B', '#c', 'aria/D', 'aria/E']] }),
    /^steps\/0\/selectors\/0: A selector has 3 parts of aria\/ without a role at most$/,
  ],
  ['a phone', recording({ type: 'setViewport', ...VIEWPORT, isMobile: true }), /^steps\/0\/isMobile: must be false/],
  ['a slow network', recording({ type: 'emulateNetworkConditions' }), /not played \(emulateNetworkConditions\)/],
  ['a large window', recording({ type: 'setViewport', ...VIEWPORT, width: 100_000 }), /^steps\/0\/width: /],
  [
    'a long expression',
    recording({ type: 'waitForExpression', expression: 'x'.repeat(10_001) }),
    /^steps\/0\/expression: /,
  ],
  [
    'another event',
    recording({ ...CLICK, assertedEvents: [{ type: 'download' }] }),
    /^steps\/0\/assertedEvents\/0\/type: /,
  ],
])('a recording with %s is refused, and says what of it', (_, value, message) => {
  expect(problemsOf(value).join('\n')).toMatch(message);
});

test('a file that is no recording is refused in words', () => {
  expect(readRecordingFile('{')).toBe('it is not JSON');
  expect(readRecordingFile('[]')).toMatch(/must be an object/);
  expect(readRecordingFile('{"title":"x","steps":[{"type":"customStep"}]}')).toMatch(/^steps\/0.*customStep/);
});

test.each([
  ['a title', { title: 'SECRET\0', steps: STEPS }, 'a text of it contains U+0000'],
  ['a title that is cut', { title: 'SECRET\ud83d', steps: STEPS }, 'a text of it contains an unpaired surrogate'],
  ['a member', { ...recording(...STEPS), 'SECRET\0': 1 }, 'a text of it contains U+0000'],
  [
    'a property',
    recording({ type: 'waitForElement', selectors: ['a'], properties: { 'SECRET\udc00': 1 } }),
    'a text of it contains an unpaired surrogate',
  ],
])('a file of which %s cannot be stored is refused without that text', (_, value, reason) => {
  expect(readRecordingFile(JSON.stringify(value))).toBe(reason);
});

test.each([
  ['aria/Save', { kind: 'aria', name: 'Save', role: undefined }],
  ['aria/Save[role="button"]', { kind: 'aria', name: 'Save', role: 'button' }],
  ['aria/[role="button"]', { kind: 'aria', name: undefined, role: 'button' }],
  [`aria/[name='Save all'][role="link"]`, { kind: 'aria', name: 'Save all', role: 'link' }],
  ['xpath///a[1]', { kind: 'xpath', value: '//a[1]' }],
  ['pierce/a.b', { kind: 'css', value: 'a.b' }],
  ['text/Save', { kind: 'text', value: 'Save' }],
  ['a > b', { kind: 'css', value: 'a > b' }],
])('the selector %s is read', (part, read) => {
  expect(readSelectorPart(part)).toEqual(read);
});

test.each(['', 'aria/', 'aria/X[level="2"]', 'xpath/', 'text/ ', ':scope >>> a', '::-p-text(x)'])(
  'the selector %j is refused',
  (part) => {
    expect(typeof readSelectorPart(part)).toBe('string');
  },
);

test('keys are characters of the keyboard, and those that it has', () => {
  for (const key of ['a', 'Z', '~', ' ', 'Enter', 'F12', 'KeyA', 'Numpad0', 'Shift', 'ArrowLeft'])
    expect([key, isPlayedKey(key)]).toEqual([key, true]);
  for (const key of ['', 'é', '\n', 'F13', 'SoftLeft', 'Power', 'keya', 'ab'])
    expect([key, isPlayedKey(key)]).toEqual([key, false]);
});

test('steps are named without what they type, and without the rest of addresses', () => {
  const labels = STEPS.map((step) => labelOfStep(step as unknown as RecordedStep));
  expect(labels).toEqual([
    'set viewport 1280 × 720',
    'navigate to https://acme.my.salesforce.com/',
    'click aria/Save',
    'double-click aria/Save',
    'hover over aria/Save',
    'change aria/Password',
    'press Enter',
    'release a key',
    'scroll the page',
    'close the page',
    'wait for .row',
    'wait for document.title === "Home"',
  ]);
  const secret = { type: 'navigate', url: 'https://user:key@x.test/secur/frontdoor.jsp?sid=00D!abc' } as const;
  expect(labelOfStep(secret)).toBe('navigate to https://x.test/secur/frontdoor.jsp');
});

test.each([
  ['https://dev.test', 'https://uat.test:8443', 'https://dev.test/a?b#c', 'https://uat.test:8443/a?b#c'],
  ['https://dev.test', 'https://uat.test', 'https://other.test/a', 'https://other.test/a'],
  ['https://dev.test', 'https://uat.test', 'https://dev.test.evil.test/', 'https://dev.test.evil.test/'],
  ['https://dev.test', 'https://uat.test', 'main', 'main'],
  [
    'https://acme--dev.sandbox.lightning.force.com',
    'https://acme--uat.sandbox.my.salesforce.com',
    'https://acme--dev.sandbox.lightning.force.com/lightning/page/home',
    'https://acme--uat.sandbox.lightning.force.com/lightning/page/home',
  ],
  [
    'https://acme--dev.sandbox.lightning.force.com',
    'https://acme--uat.sandbox.my.salesforce.com',
    'https://acme--dev.sandbox.my.site.com/help',
    'https://acme--uat.sandbox.my.site.com/help',
  ],
  [
    'https://acme--dev.sandbox.lightning.force.com',
    'https://acme--uat.sandbox.my.salesforce.com',
    'https://acme.my.site.com/help',
    'https://acme.my.site.com/help',
  ],
])('what was recorded at %s is played at %s', (from, to, url, moved) => {
  const step = url === 'main' ? { type: 'close' as const, target: url } : { type: 'navigate' as const, url };
  const [first] = movedTo({ title: '', steps: [step] } satisfies BrowserRecording, from, to).steps;
  expect(first?.type === 'navigate' ? first.url : first?.target).toBe(moved);
});
