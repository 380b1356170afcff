/**
 * A recording as the Recorder of Chrome DevTools exports it (https://github.com/puppeteer/replay, `src/Schema.ts`), as far as
 * it is played here.
 */
export interface BrowserRecording {
  title: string;
  /** Milliseconds that each step may take that does not say so itself. */
  timeout?: number | undefined;
  selectorAttribute?: string | undefined;
  steps: RecordedStep[];
}

/** Leads to an element: a selector, or one for each element on the way. Several are alternatives. */
export type RecordedSelector = string | string[];

/** The page must navigate once the step has begun. Address and title are not compared, as the Recorder does not. */
interface AssertedNavigation {
  type: 'navigation';
  url?: string | undefined;
  title?: string | undefined;
}

interface AnyStep {
  timeout?: number | undefined;
  assertedEvents?: AssertedNavigation[] | undefined;
  /** `main`, or the address of another page or frame. */
  target?: string | undefined;
}

interface InFrame extends AnyStep {
  /** From the page down: the how-manieth child each is. */
  frame?: number[] | undefined;
}

interface OnElement extends InFrame {
  selectors: RecordedSelector[];
}

interface Clicked extends OnElement {
  deviceType?: 'mouse' | undefined;
  button?: 'primary' | 'auxiliary' | 'secondary' | undefined;
  offsetX: number;
  offsetY: number;
  duration?: number | undefined;
}

export interface WaitForElement extends OnElement {
  operator?: '>=' | '==' | '<=' | undefined;
  count?: number | undefined;
  visible?: boolean | undefined;
  properties?: Record<string, unknown> | undefined;
  attributes?: Record<string, string> | undefined;
}

export interface SetViewport extends AnyStep {
  width: number;
  height: number;
  deviceScaleFactor: 1;
  isMobile: false;
  hasTouch: false;
  isLandscape: false;
}

export type RecordedStep =
  | ({ type: 'setViewport' } & SetViewport)
  | ({ type: 'navigate'; url: string } & AnyStep)
  | ({ type: 'click' } & Clicked)
  | ({ type: 'doubleClick' } & Clicked)
  | ({ type: 'hover' } & OnElement)
  | ({ type: 'change'; value: string } & OnElement)
  | ({ type: 'keyDown'; key: string } & AnyStep)
  | ({ type: 'keyUp'; key: string } & AnyStep)
  | ({
      type: 'scroll';
      x?: number | undefined;
      y?: number | undefined;
      selectors?: RecordedSelector[] | undefined;
    } & InFrame)
  | ({ type: 'close' } & AnyStep)
  | ({ type: 'waitForElement' } & WaitForElement)
  | ({ type: 'waitForExpression'; expression: string } & InFrame);

type OfType<Type extends RecordedStep['type']> = Extract<RecordedStep, { type: Type }>;

/** Steps that do something to an element. */
export type ElementStep =
  | OfType<'click' | 'doubleClick' | 'hover' | 'change'>
  | (OfType<'scroll'> & Pick<OnElement, 'selectors'>);
export type PageStep = Exclude<RecordedStep, OfType<'click' | 'doubleClick' | 'hover' | 'change'>>;

export const isElementStep = (step: RecordedStep): step is ElementStep =>
  step.type !== 'waitForElement' && 'selectors' in step && step.selectors !== undefined;

/** The types of steps that are played. */
export const STEP_TYPES = [
  'setViewport',
  'navigate',
  'click',
  'doubleClick',
  'hover',
  'change',
  'keyDown',
  'keyUp',
  'scroll',
  'close',
  'waitForElement',
  'waitForExpression',
] as const satisfies RecordedStep['type'][];

/** Steps of a recording. */
export const STEPS_MAX = 300;
/** Characters of a recording within an environment, as JSON; a longer one is a file of the repository. */
export const INLINE_CHARACTERS_MAX = 65_536;
/** Bytes of the file of a recording. */
export const FILE_BYTES_MAX = 262_144;
/** Milliseconds that a step may take where nothing is said. */
export const STEP_MS = 30_000;
export const STEP_MAX_MS = 120_000;
/** All steps together. */
export const PLAY_MAX_MINUTES = 15;

const SHOWN_MAX = 120;
const shown = (text: string): string =>
  (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1).toWellFormed()}…` : text).replaceAll(/\s+/g, ' ');

/** An address without what may be secret in it. */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return 'an address';
  const { protocol, host, pathname } = new URL(url);
  return protocol === 'about:' ? url : shown(`${protocol}//${host}${pathname}`);
}

/** What a step is about, for people: `click aria/Save`. What it types is not shown. */
export function labelOfStep(step: RecordedStep): string {
  switch (step.type) {
    case 'setViewport':
      return `set viewport ${step.width} × ${step.height}`;
    case 'navigate':
      return `navigate to ${shownAddress(step.url)}`;
    case 'keyDown':
    case 'keyUp':
      return `${step.type === 'keyDown' ? 'press' : 'release'} ${step.key.length > 1 ? step.key : 'a key'}`;
    case 'waitForExpression':
      return `wait for ${shown(step.expression)}`;
    case 'close':
      return 'close the page';
    case 'scroll':
      return step.selectors ? `scroll ${shownSelector(step.selectors)}` : 'scroll the page';
    case 'waitForElement':
      return `wait for ${shownSelector(step.selectors)}`;
    case 'click':
    case 'doubleClick':
    case 'hover':
    case 'change':
      return `${WORDS[step.type]} ${shownSelector(step.selectors)}`;
  }
}

const WORDS = { click: 'click', doubleClick: 'double-click', hover: 'hover over', change: 'change' } as const;

const shownSelector = ([first = '']: readonly RecordedSelector[]): string =>
  shown(typeof first === 'string' ? first : first.join(' › '));

/** The origin of an address of the web; undefined: it is none. */
export const originOf = (url: string): string | undefined =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? new URL(url).origin : undefined;

/** Hosts of one org, which differ in their ends alone (My Domain). */
const ORG_HOST =
  /^(?<org>.+?)\.(?<end>(?:my\.salesforce|lightning\.force|my\.salesforce-setup|my\.site|file\.force)\.com)$/;

/** An address of one org at another; any other address stays as it is. @param from, to origins of the orgs. */
function movedAddress(url: string, from: string, to: string): string {
  const origin = originOf(url);
  if (origin === undefined) return url;
  const [there, here, now] = [from, origin, to].map((each) => ORG_HOST.exec(new URL(each).host)?.groups);
  const { pathname, search, hash } = new URL(url);
  const rest = `${pathname}${search}${hash}`;
  if (there && now) return here?.org === there.org ? `https://${now.org}.${here?.end}${rest}` : url;
  return origin === from ? `${to}${rest}` : url;
}

/** A recording that was made at one org, for another. @param from, to origins of the orgs. */
export function movedTo({ steps, ...recording }: BrowserRecording, from: string, to: string): BrowserRecording {
  const moved = (url: string): string => movedAddress(url, from, to);
  return {
    ...recording,
    steps: steps.map((step) => ({
      ...step,
      ...(step.target !== undefined && { target: moved(step.target) }),
      ...(step.type === 'navigate' && { url: moved(step.url) }),
    })),
  };
}
