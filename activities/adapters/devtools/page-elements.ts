import type { Frame, Locator } from 'playwright-core';
import type { RecordedSelector, WaitForElement } from '../../../domain/projects/policies/browser-recording-rules.ts';
import {
  NAMED_ROLES,
  readSelectorPart,
  type SelectorPart,
} from '../../../domain/projects/policies/element-selector-rules.ts';
import { StepFailed, type Turn, until } from './played-page.ts';

type Role = Parameters<Frame['getByRole']>[0];
type Scope = Pick<Frame, 'locator' | 'getByText' | 'getByRole'>;

function within(scope: Scope, part: SelectorPart): Locator {
  switch (part.kind) {
    case 'css':
    case 'xpath':
      return scope.locator(`${part.kind}=${part.value}`);
    case 'text':
      return scope.getByText(part.value);
    case 'aria': {
      const { name, role } = part;
      const named = name === undefined ? {} : { name, exact: true };
      // A recorded role is one of those that the rules know.
      if (role !== undefined) return scope.getByRole(role as Role, named);
      const [first, ...others] = NAMED_ROLES.map((each) => scope.getByRole(each, named));
      return others.reduce((all, other) => all.or(other), first as Locator);
    }
  }
}

/** What a recorded selector leads to; each of its parts is looked for within what the one before leads to. */
function locatorOf(frame: Frame, selector: RecordedSelector): Locator {
  let found: Scope | Locator = frame;
  for (const part of [selector].flat()) {
    const read = readSelectorPart(part);
    if (typeof read === 'string') throw new StepFailed('selector_not_found', `The selector ${read}`);
    found = within(found, read);
  }
  return found as Locator;
}

/** A selector that the browser does not understand leads to nothing. */
const count = (locator: Locator): Promise<number> => locator.count().catch(() => 0);

/** The element of a step: what the first of its selectors leads to that leads to something visible. Throws `StepFailed`. */
export async function elementOf(frame: Frame, selectors: readonly RecordedSelector[], turn: Turn): Promise<Locator> {
  const locators = selectors.map((selector) => locatorOf(frame, selector).filter({ visible: true }).first());
  const found = await until(turn, async () => {
    for (const locator of locators) if ((await count(locator)) > 0) return locator;
    return undefined;
  });
  if (found) return found;
  const which =
    selectors.length === 1 ? 'The selector leads to no' : `None of its ${selectors.length} selectors leads to a`;
  throw new StepFailed('selector_not_found', `${which} visible element within ${turn.text}`);
}

const COMPARE = {
  '>=': (one: number, other: number) => one >= other,
  '==': (one: number, other: number) => one === other,
  '<=': (one: number, other: number) => one <= other,
};

/**
 * Waits until so many elements are there, with such attributes and properties; with `visible: false`, until that is not so.
 * Throws `StepFailed`.
 */
export async function waitForElement(frame: Frame, step: WaitForElement, turn: Turn): Promise<void> {
  const { operator = '>=', count: wanted = 1, visible = true, attributes = {}, properties = {} } = step;
  const locators = step.selectors.map((selector) => locatorOf(frame, selector));
  let elements = 0;
  const isSo = async (): Promise<boolean> => {
    let found: Locator | undefined;
    elements = 0;
    for (const locator of locators) {
      elements = await count(locator);
      found = locator;
      if (elements > 0) break;
    }
    if (!COMPARE[operator](elements, wanted)) return false;
    return found === undefined || elements === 0 || found.evaluateAll(haveAll, { attributes, properties });
  };
  const found = await until(turn, async () => ((await isSo()) === visible ? true : undefined));
  if (found) return;
  const there = elements === 1 ? '1 element was there' : `${elements} elements were there`;
  const like = Object.keys({ ...attributes, ...properties }).length > 0 ? ' with such attributes and properties' : '';
  const detail = `${there} after ${turn.text}; expected ${visible ? '' : 'not '}${operator} ${wanted}${like}`;
  throw new StepFailed('assertion_failed', detail);
}

interface PageElement {
  getAttribute(name: string): string | null;
}

/** Runs in the page. */
function haveAll(
  elements: unknown[],
  { attributes, properties }: { attributes: Record<string, string>; properties: Record<string, unknown> },
): boolean {
  const isLike = (wanted: unknown, found: unknown): boolean => {
    if (typeof wanted !== 'object' || wanted === null) return wanted === found;
    if (typeof found !== 'object' || found === null) return false;
    return Object.entries(wanted).every(([name, value]) => isLike(value, (found as Record<string, unknown>)[name]));
  };
  return elements.every(
    (element) =>
      Object.entries(attributes).every(([name, value]) => (element as PageElement).getAttribute(name) === value) &&
      isLike(properties, element),
  );
}
