import type { Frame, Locator } from 'playwright-core';
import {
  type ElementStep,
  isElementStep,
  type PageStep,
  type RecordedStep,
  shownAddress,
} from '../../../domain/projects/policies/browser-recording-rules.ts';
import { waitForExpression } from './page-expressions.ts';
import { elementOf, waitForElement } from './page-elements.ts';
import { type Place, type PlayedPages, StepFailed, StepLost, type Turn } from './played-page.ts';

const BUTTONS = { primary: 'left', auxiliary: 'middle', secondary: 'right' } as const;

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

/** Plays a step. Throws `StepFailed`, and what playwright throws where a page goes away meanwhile. */
export async function playStep(pages: PlayedPages, step: RecordedStep, turn: Turn): Promise<void> {
  const place = await pages.placeOf(step, turn);
  const element = isElementStep(step) ? await elementOf(place.frame, step.selectors, turn) : undefined;
  const navigated = step.assertedEvents?.length ? navigationOf(place, turn) : undefined;
  // What it says counts once the step itself is done.
  navigated?.catch(() => undefined);
  if (!isElementStep(step)) await actIn(place, step, turn);
  else if (element) await actOn(element, step, turn);
  await navigated;
}

/** Waits until a frame has navigated and is loaded. Throws `StepFailed`. */
async function navigationOf({ page, frame }: Place, turn: Turn): Promise<void> {
  try {
    await page.waitForEvent('framenavigated', { predicate: (each) => each === frame, timeout: turn.leftMs });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw new StepFailed('assertion_failed', `No navigation followed within ${turn.text}`);
  }
  if (frame.url().startsWith('chrome-error:'))
    throw new StepFailed('navigation_failed', 'The page that followed did not load');
  await frame.waitForLoadState('load', { timeout: turn.leftMs });
}

async function actOn(element: Locator, step: ElementStep, turn: Turn): Promise<void> {
  try {
    switch (step.type) {
      case 'click':
      case 'doubleClick': {
        const { button = 'primary', duration: delay } = step;
        const how = {
          button: BUTTONS[button],
          ...(delay !== undefined && { delay }),
          ...(await spotOf(element, step, turn)),
        };
        const options = { ...how, timeout: turn.leftMs };
        await (step.type === 'click' ? element.click(options) : element.dblclick(options));
        return;
      }
      case 'hover':
        await element.hover({ timeout: turn.leftMs });
        return;
      case 'change':
        await change(element, step.value, turn);
        return;
      case 'scroll':
        await element.evaluate(scroll, { x: step.x ?? 0, y: step.y ?? 0 });
        return;
    }
  } catch (error) {
    if (!isTimeout(error)) throw error;
    const detail = `The element is there, but was covered, disabled, moving or of another kind for ${turn.text}`;
    throw new StepFailed('not_actionable', detail);
  }
}

/** Where an element is clicked: where it was recorded, if it is as large now; else in its middle. */
async function spotOf(element: Locator, { offsetX: x, offsetY: y }: { offsetX: number; offsetY: number }, turn: Turn) {
  const box = await element.boundingBox({ timeout: turn.leftMs });
  return box && x >= 0 && y >= 0 && x < box.width && y < box.height ? { position: { x, y } } : {};
}

async function change(element: Locator, value: string, turn: Turn): Promise<void> {
  const tag = await element.evaluate((each) => (each as unknown as { tagName: string }).tagName);
  if (tag === 'SELECT') await element.selectOption({ value }, { timeout: turn.leftMs });
  else
    await element.fill(value, { timeout: turn.leftMs }).catch((error: unknown) => {
      if (isTimeout(error) || !(error instanceof Error) || !/Element is not|Cannot type|Malformed/.test(error.message))
        throw error;
      throw new StepFailed('not_actionable', 'The element takes no such text');
    });
}

/** Runs in the page. */
function scroll(element: unknown, { x, y }: { x: number; y: number }): void {
  (element as { scroll(x: number, y: number): void }).scroll(x, y);
}

async function actIn({ page, frame }: Place, step: PageStep, turn: Turn): Promise<void> {
  switch (step.type) {
    case 'navigate':
      return navigate(frame, step.url, turn);
    case 'setViewport':
      return page.setViewportSize({ width: step.width, height: step.height });
    case 'keyDown':
      return page.keyboard.down(step.key);
    case 'keyUp':
      return page.keyboard.up(step.key);
    case 'close':
      return page.close();
    case 'scroll':
      return frame.evaluate(scrollWindow, { x: step.x ?? 0, y: step.y ?? 0 });
    case 'waitForElement':
      return waitForElement(frame, step, turn);
    case 'waitForExpression':
      return waitForExpression({ page, frame }, step.expression, turn);
  }
}

/** What the network between a browser and a site does, which says nothing about the site. */
const UNREACHED =
  /^net::ERR_(?:PROXY|SOCKS|TUNNEL|NAME_|DNS|INTERNET|NETWORK|ADDRESS_UNREACHABLE|CONNECTION_|NO_SUPPORTED_PROXIES|MANDATORY_PROXY|TIMED_OUT)/;

async function navigate(frame: Frame, url: string, turn: Turn): Promise<void> {
  const where = shownAddress(url);
  try {
    const response = await frame.goto(url, { timeout: turn.leftMs });
    const status = response?.status() ?? 0;
    if (status >= 400) throw new StepFailed('navigation_failed', `${where} was answered with ${status}`);
  } catch (error) {
    if (error instanceof StepFailed || isTimeout(error)) throw error;
    const [code] = /net::ERR_\w+/.exec(error instanceof Error ? error.message : '') ?? [];
    if (code === undefined) throw error;
    if (UNREACHED.test(code)) throw new StepLost(`${where} could not be reached (${code})`);
    throw new StepFailed('navigation_failed', `${where} did not load (${code})`);
  }
}

/** Runs in the page. */
function scrollWindow({ x, y }: { x: number; y: number }): void {
  (globalThis as unknown as { scroll(x: number, y: number): void }).scroll(x, y);
}
