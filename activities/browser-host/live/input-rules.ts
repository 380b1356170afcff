import type { InputMessage } from './live-protocol.ts';

/** A command of the Chrome DevTools Protocol. */
export interface Command {
  method: string;
  params: Record<string, unknown>;
}

const CTRL_ALT_META = 1 | 2 | 4;
const CTRL = 2;
const ALT = 1;
const META = 4;
const MOUSE_KINDS = { move: 'mouseMoved', down: 'mousePressed', up: 'mouseReleased' } as const;

/** The commands by which a message of the one who controls acts on a tab. */
export function commandOf(message: InputMessage): Command {
  switch (message.type) {
    case 'mouse': {
      const { x, y, modifiers, kind, button, buttons, clicks } = message;
      const params = { type: MOUSE_KINDS[kind], x, y, modifiers, button, buttons, clickCount: clicks };
      return { method: 'Input.dispatchMouseEvent', params };
    }
    case 'wheel': {
      const { x, y, modifiers, dx, dy } = message;
      return {
        method: 'Input.dispatchMouseEvent',
        params: { type: 'mouseWheel', x, y, modifiers, deltaX: dx, deltaY: dy },
      };
    }
    case 'key':
      return keyCommand(message);
    case 'compose': {
      const { text, start, end } = message;
      const inText = (at: number) => Math.min(at, text.length);
      return {
        method: 'Input.imeSetComposition',
        params: { text, selectionStart: Math.min(inText(start), inText(end)), selectionEnd: inText(end) },
      };
    }
    case 'insert':
      return { method: 'Input.insertText', params: { text: message.text } };
  }
}

type KeyMessage = Extract<InputMessage, { type: 'key' }>;

function keyCommand(message: KeyMessage): Command {
  const { kind, key, code, keyCode, location, modifiers, isRepeated } = message;
  const text = kind === 'down' ? textOf(message) : '';
  const params = {
    type: kind === 'up' ? 'keyUp' : text === '' ? 'rawKeyDown' : 'keyDown',
    key,
    code,
    windowsVirtualKeyCode: keyCode,
    modifiers,
    autoRepeat: isRepeated,
    location,
    isKeypad: location === 3,
    ...(text !== '' && { text, unmodifiedText: text }),
  };
  return { method: 'Input.dispatchKeyEvent', params };
}

/** What a key types. AltGr, which is Ctrl and Alt together on Windows, types; Ctrl, Alt or Meta alone are for shortcuts. */
function textOf({ key, modifiers }: KeyMessage): string {
  const held = modifiers & CTRL_ALT_META;
  const types = held === 0 || held === (CTRL | ALT);
  if (!types) return '';
  if (key === 'Enter') return '\r';
  return [...key].length === 1 ? key : '';
}

/** Whether the newest message of its sort says all: those before it may be left out where the browser is behind. */
export const isReplaceable = (message: InputMessage): boolean =>
  message.type === 'wheel' || (message.type === 'mouse' && message.kind === 'move');

/** Whether it lets something go that was held down. */
export const isRelease = (message: InputMessage): boolean =>
  (message.type === 'mouse' || message.type === 'key') && message.kind === 'up';

/** What somebody holds down. */
export interface Held {
  keys: ReadonlyMap<string, KeyMessage>;
  /** The last mouse message while a button was down. */
  mouse: Extract<InputMessage, { type: 'mouse' }> | undefined;
}
export const NOTHING_HELD: Held = { keys: new Map(), mouse: undefined };
/** More fingers than anybody has. */
const HELD_MAX = 20;

/** What is held down after a message. */
export function heldAfter(held: Held, message: InputMessage): Held {
  if (message.type === 'key') {
    const keys = new Map(held.keys);
    // On a Mac, keys that go up while Meta is down are never told.
    if (message.kind === 'up' && message.key === 'Meta') keys.clear();
    else if (message.kind === 'up') keys.delete(message.code);
    else if (keys.size < HELD_MAX) keys.set(message.code, message);
    return { ...held, keys };
  }
  if (message.type === 'mouse') return { ...held, mouse: message.buttons === 0 ? undefined : message };
  return held;
}

const BUTTON_OF = [
  [1, 'left'],
  [2, 'right'],
  [4, 'middle'],
] as const;

/** The messages by which what is held down is let go. */
export function releases({ keys, mouse }: Held): InputMessage[] {
  const ups: InputMessage[] = [...keys.values()].map((key) => ({
    ...key,
    kind: 'up' as const,
    modifiers: key.modifiers & ~META,
    isRepeated: false,
  }));
  if (!mouse) return ups;
  for (const [bit, button] of BUTTON_OF)
    if ((mouse.buttons & bit) !== 0) ups.push({ ...mouse, kind: 'up', button, buttons: 0, clicks: 1 });
  return ups;
}
