import type { SessionBrowser, Tab } from '../chromium/browser.ts';
import { commandOf, type Held, heldAfter, isRelease, isReplaceable, NOTHING_HELD, releases } from './input-rules.ts';
import type { InputMessage } from './live-protocol.ts';

/** With so many commands that the page has not answered, moves of the mouse are left out. */
const BEHIND = 10;
/** With so many, everything is. */
const UNANSWERED_MAX = 200;

/** What the one who controls a browser does, in the order in which it was done. */
export class InputQueue {
  readonly #cdp: SessionBrowser['cdp'];
  readonly #tab: () => Tab | undefined;
  #held: Held = NOTHING_HELD;
  #unanswered = 0;

  /** @param tab the one that is worked in. */
  constructor({ cdp }: SessionBrowser, tab: () => Tab | undefined) {
    this.#cdp = cdp;
    this.#tab = tab;
  }

  /** False: the page answers nothing any more, and this was left out. */
  send(message: InputMessage): boolean {
    if (this.#unanswered >= BEHIND && isReplaceable(message)) return true;
    if (this.#unanswered >= UNANSWERED_MAX) return false;
    // A page that asks takes nothing before it is answered, and would then take all of it.
    if (this.#tab()?.dialog && !isRelease(message)) return true;
    this.#held = heldAfter(this.#held, message);
    this.#pass(message);
    return true;
  }

  /** Lets go what is held down. */
  letGo(): void {
    for (const message of releases(this.#held)) this.#pass(message);
    this.#held = NOTHING_HELD;
  }

  #pass(message: InputMessage): void {
    const tab = this.#tab();
    if (!tab) return;
    const { method, params } = commandOf(message);
    this.#unanswered++;
    const answered = () => void this.#unanswered--;
    // A page that went away takes with it what was done in it.
    this.#cdp.send(method, params, tab.cdpSession).then(answered, answered);
  }
}
