import type { Frame, Locator } from 'playwright-core';
import type { RecordedSelector, WaitForElement } from '../../../domain/projects/policies/browser-recording-rules.ts';
import {
  NAMED_ROLES,
  readSelectorPart,
  type SelectorPart,
} from '../../../domain/projects/policies/element-selector-rules.ts';
import { StepFailed, type Turn, until } from './played-page.ts';

type Role = Parameters<Frame['getByRole']>[0];

function within(frame: Frame, parent: Locator | undefined, part: SelectorPart): Locator {
  const scope = parent ?? frame;
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
      const [first, ...others] = NAMED_ROLES.map((each) => frame.getByRole(each, named));
      const all = others.reduce((union, other) => union.or(other), first as Locator);
      // Made of the frame, it does not repeat for each role what leads to it.
      return parent ? parent.locator(all) : all;
    }
  }
}

/** What a recorded selector leads to; each of its parts is looked for within what the one before leads to. */
function locatorOf(frame: Frame, selector: RecordedSelector): Locator {
  let found: Locator | undefined;
  for (const part of [selector].flat()) {
    const read = readSelectorPart(part);
    if (typeof read === 'string') throw new StepFailed('selector_not_found', `The selector ${read}`);
    found = within(frame, found, read);
  }
  return found as Locator;
}

/** What was asked of a page; undefined: not known yet, as it navigates, or never, as it does not understand the selector. */
const known = <T>(asked: Promise<T>): Promise<T | undefined> => asked.catch(() => undefined);

/** The element of a step: what the first of its selectors leads to that leads to something visible. Throws `StepFailed`. */
export async function elementOf(frame: Frame, selectors: readonly RecordedSelector[], turn: Turn): Promise<Locator> {
  const locators = selectors.map((selector) => locatorOf(frame, selector).filter({ visible: true }).first());
  const found = await until(turn, async () => {
    for (const locator of locators) if (((await known(locator.count())) ?? 0) > 0) return locator;
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
  let elements: number | undefined;
  const isSo = async (): Promise<boolean | undefined> => {
    let found: Locator | undefined;
    for (const locator of locators) {
      elements = await known(locator.count());
      found = locator;
      if (elements === undefined || elements > 0) break;
    }
    if (elements === undefined) return undefined;
    if (!COMPARE[operator](elements, wanted)) return false;
    if (found === undefined || elements === 0) return true;
    return known(found.evaluateAll(IN_PAGE.haveAll, { attributes, properties }));
  };
  const found = await until(turn, async () => ((await isSo()) === visible ? true : undefined));
  if (found) return;
  if (elements === undefined)
    throw new StepFailed('selector_not_found', `What the selector leads to could not be found out within ${turn.text}`);
  const there = elements === 1 ? '1 element was there' : `${elements} elements were there`;
  const like = Object.keys({ ...attributes, ...properties }).length > 0 ? ' with such attributes and properties' : '';
  const detail = `${there} after ${turn.text}; expected ${visible ? '' : 'not '}${operator} ${wanted}${like}`;
  throw new StepFailed('assertion_failed', detail);
}

interface PageElement {
  getAttribute(name: string): string | null;
}

interface Wanted {
  attributes: Record<string, string>;
  properties: Record<string, unknown>;
}

/** Runs in the page. A function with a name within it would be bundled with a call that pages do not have. */
const IN_PAGE = {
  haveAll(elements: unknown[], { attributes, properties }: Wanted): boolean {
    const compare = {
      isLike(wanted: unknown, found: unknown): boolean {
        if (typeof wanted !== 'object' || wanted === null) return wanted === found;
        if (typeof found !== 'object' || found === null) return false;
        return Object.entries(wanted).every(([name, value]) =>
          compare.isLike(value, (found as Record<string, unknown>)[name]),
        );
      },
    };
    return elements.every(
      (element) =>
        Object.entries(attributes).every(([name, value]) => (element as PageElement).getAttribute(name) === value) &&
        compare.isLike(properties, element),
    );
  },
};
