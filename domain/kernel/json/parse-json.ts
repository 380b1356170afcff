import { setImmediate } from 'node:timers/promises';
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, endOfString } from './json-text-rules.ts';

const SPACE = 0x20;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Takes some 2 ms to parse when it is all names of members. */
const STEP_CHARS = 64 * 1024;

/** An array or object that is not closed yet. */
interface Frame {
  openAt: number;
  isArray: boolean;
  /** Where the text begins that has not been parsed yet. */
  runStart: number;
  /** Where the current member begins. */
  memberStart: number;
  /** The current member has been parsed: only white space may follow it. */
  isMemberDone: boolean;
  /** What has been parsed; absent while its text is left to the array or object around it. */
  result?: unknown[] | Record<string, unknown>;
}

/**
 * Parses as `JSON.parse` does, but a large text in steps between which other work is served: members are parsed by it in
 * runs of `stepChars`, and put together. One pass, whatever the nesting. Throws `SyntaxError`; its message may say less
 * than that of `JSON.parse`.
 */
export async function parseJson(text: string, stepChars = STEP_CHARS): Promise<unknown> {
  if (text.length <= stepChars) return JSON.parse(text);
  const stack: Frame[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    // Square and curly brackets differ in this bit; all else is passed over as fast as can be.
    const bracket = char | 0x20;
    if (char !== QUOTE && char !== COMMA && bracket !== OPEN_OBJECT && bracket !== CLOSE_OBJECT) continue;
    const frame = stack.at(-1);
    if (char === QUOTE) {
      at = endOfString(text, at + 1);
    } else if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      if (!frame && !isBlank(text, 0, at)) throw unexpected(text, at);
      stack.push({
        openAt: at,
        isArray: char === OPEN_ARRAY,
        runStart: at + 1,
        memberStart: at + 1,
        isMemberDone: false,
      });
    } else if (char === COMMA && frame) {
      if (frame.isMemberDone || at - frame.runStart > stepChars) {
        flush(frame, text, at);
        await setImmediate();
      }
      frame.memberStart = at + 1;
    } else if (char === CLOSE_ARRAY || char === CLOSE_OBJECT) {
      if (frame?.isArray !== (char === CLOSE_ARRAY)) throw unexpected(text, at);
      stack.pop();
      const parent = stack.at(-1);
      const isLarge = frame.result !== undefined || at - frame.openAt > stepChars;
      if (!isLarge && parent) continue;
      // A long string or white space has been passed over without a pause.
      await setImmediate();
      flush(frame, text, at);
      await setImmediate();
      if (parent) {
        put(parent, frame, text);
        parent.runStart = at + 1;
      } else if (isBlank(text, at + 1, text.length)) {
        return frame.result;
      } else throw unexpected(text, at + 1);
    }
  }
  // A single string, number or word; or something that is cut off.
  return JSON.parse(text);
}

/** Parses what is left of a frame up to a place. */
function flush(frame: Frame, text: string, to: number): void {
  const { isArray, runStart, openAt, isMemberDone } = frame;
  const isFirst = frame.result === undefined && runStart === openAt + 1;
  frame.result ??= isArray ? [] : {};
  if (isMemberDone) {
    if (!isBlank(text, runStart, to)) throw unexpected(text, runStart);
  } else if (!(isFirst && isEnd(text, to) && isBlank(text, runStart, to))) {
    addMembers(frame.result, text.slice(runStart, to));
  }
  frame.runStart = to + 1;
  frame.isMemberDone = false;
}

const isEnd = (text: string, at: number): boolean => text.charCodeAt(at) !== COMMA;

function addMembers(result: unknown[] | Record<string, unknown>, run: string): void {
  if (Array.isArray(result)) {
    const elements = JSON.parse(`[${run}]`) as unknown[];
    if (elements.length === 0) throw new SyntaxError('Unexpected token , in JSON');
    for (const element of elements) result.push(element);
    return;
  }
  const members = JSON.parse(`{${run}}`) as Record<string, unknown>;
  const names = Object.keys(members);
  if (names.length === 0) throw new SyntaxError('Unexpected token , in JSON');
  for (const name of names) setMember(result, name, members[name]);
}

/** Puts what was parsed of an inner frame into the one around it, behind the members before it. */
function put(parent: Frame, { openAt, result }: Frame, text: string): void {
  if (parent.memberStart > parent.runStart) flush(parent, text, parent.memberStart - 1);
  parent.result ??= parent.isArray ? [] : {};
  if (Array.isArray(parent.result)) {
    if (!isBlank(text, parent.memberStart, openAt)) throw unexpected(text, parent.memberStart);
    parent.result.push(result);
  } else {
    const before = text.slice(parent.memberStart, openAt);
    const [name, ...others] = Object.keys(JSON.parse(`{${before}0}`) as object);
    if (name === undefined || others.length > 0) throw unexpected(text, parent.memberStart);
    setMember(parent.result, name, result);
  }
  parent.isMemberDone = true;
}

function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}

/** Whether there is only what JSON counts as white space. */
function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const char = text.charCodeAt(at);
    if (char !== SPACE && char !== TAB && char !== LINE_FEED && char !== CARRIAGE_RETURN) return false;
  }
  return true;
}

const unexpected = (text: string, at: number): SyntaxError =>
  new SyntaxError(`Unexpected token ${JSON.stringify(text.charAt(at))} in JSON`);
