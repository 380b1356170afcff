import {
  DIALOG_ANSWER_SECONDS,
  DIALOG_KINDS,
  type DialogKind,
  isAcceptedUnanswered,
} from '../../../domain/review/browser-sessions/live/dialog-rules.ts';
import type { Dialog, DialogAnswer } from '../chromium/browser.ts';

/** Pages choose both, of any length. */
const MESSAGE_MAX = 4_000;
const PROPOSAL_MAX = 1_000;
/** So many dialogs that nobody answers may follow each other within the window without a pause. */
const UNANSWERED_MAX = 5;
const WINDOW_MS = 10_000;
/** A page that asks without end is slowed down, so that it leaves something of the processor. */
const ENDLESS_PAUSE_MS = 100;

type By = 'nobody' | 'viewer' | 'automation';

export interface TabDialogsParts {
  /** Whether anybody is there who may answer. */
  isAttended: () => boolean;
  /** Answers the page. What fails, fails because somebody else has answered, or the tab is gone. */
  handle: (answer: DialogAnswer) => void;
  /** A dialog has opened for those who are there, or it is gone. */
  onChange: () => void;
  onClosed: (dialog: Dialog, accepted: boolean, by: By) => void;
  answerMaxMs?: number | undefined;
}

/**
 * The dialogs of one tab, of which at most one is open. It waits for who controls the live view and for automation that is attached
 * to the tab: the first answer counts. With nobody there, or without an answer in time, it is dismissed.
 */
export class TabDialogs {
  readonly #parts: TabDialogsParts;
  #open: Dialog | undefined;
  /** Who was passed on with an answer of this host; undefined: none was. */
  #by: By | undefined;
  #timer: NodeJS.Timeout | undefined;
  #opened = 0;
  #unanswered = 0;
  #unansweredSinceMs = 0;

  constructor(parts: TabDialogsParts) {
    this.#parts = parts;
  }

  /** The one that waits for an answer. */
  get open(): Dialog | undefined {
    return this.#by === undefined ? this.#open : undefined;
  }

  /** @param params of `Page.javascriptDialogOpening`. */
  opened({ type, message, defaultPrompt }: Record<string, unknown>): void {
    const kind: DialogKind = DIALOG_KINDS.find((one) => one === type) ?? 'confirm';
    this.#open = {
      number: ++this.#opened,
      kind,
      message: textOf(message, MESSAGE_MAX),
      proposal: textOf(defaultPrompt, PROPOSAL_MAX),
    };
    this.#by = undefined;
    if (!this.#parts.isAttended()) return this.#leaveUnanswered();
    const maxMs = this.#parts.answerMaxMs ?? DIALOG_ANSWER_SECONDS * 1_000;
    this.#timer = setTimeout(() => this.#leaveUnanswered(), maxMs);
    this.#parts.onChange();
  }

  /** @param params of `Page.javascriptDialogClosed`. */
  closed({ result }: Record<string, unknown>): void {
    const dialog = this.#open;
    const by = this.#by ?? 'automation';
    this.forget();
    if (dialog) this.#parts.onClosed(dialog, result === true, by);
  }

  /** The page with it is gone. */
  forget(): void {
    clearTimeout(this.#timer);
    const wasOpen = this.open !== undefined;
    this.#open = undefined;
    this.#by = undefined;
    if (wasOpen) this.#parts.onChange();
  }

  /** An answer of a viewer; false: the dialog of this number is not open any more. */
  answer(number: number, answer: DialogAnswer): boolean {
    if (this.open?.number !== number) return false;
    this.#give(answer, 'viewer');
    return true;
  }

  /** Somebody came or left. */
  attendanceChanged(): void {
    if (this.open && !this.#parts.isAttended()) this.#leaveUnanswered();
  }

  #leaveUnanswered(): void {
    const { open } = this;
    if (!open) return;
    const accept = isAcceptedUnanswered(open.kind);
    const now = Date.now();
    if (now - this.#unansweredSinceMs > WINDOW_MS) {
      this.#unansweredSinceMs = now;
      this.#unanswered = 0;
    }
    if (++this.#unanswered <= UNANSWERED_MAX) return this.#give({ accept }, 'nobody');
    setTimeout(() => this.open === open && this.#give({ accept }, 'nobody'), ENDLESS_PAUSE_MS);
  }

  #give(answer: DialogAnswer, by: By): void {
    clearTimeout(this.#timer);
    this.#by = by;
    this.#parts.handle(answer);
    this.#parts.onChange();
  }
}

const textOf = (value: unknown, max: number): string => (typeof value === 'string' ? value.slice(0, max) : '');
