import type { BrowserContext, Frame, Page } from 'playwright-core';
import type { StepFailure, StepFailureReason } from '../../../domain/review/browser-checks/check-outcome-rules.ts';
import type { RecordedStep } from '../../../domain/projects/policies/browser-recording-rules.ts';

/** A step that failed, as what it found says. */
export class StepFailed extends Error {
  readonly failure: StepFailure;
  constructor(reason: StepFailureReason, detail: string) {
    super(detail);
    this.failure = { reason, detail };
  }
}

/** A step of which it is not known whether it would pass; the message says why, for people. */
export class StepLost extends Error {}

/** How long a step still has. */
export class Turn {
  readonly #ms: number;
  #until: number;
  constructor(ms: number) {
    this.#ms = ms;
    this.#until = Date.now() + ms;
  }
  /** At least a millisecond: 0 means no limit at all to playwright. */
  get leftMs(): number {
    return Math.max(1, this.#until - Date.now());
  }
  get isOver(): boolean {
    return Date.now() >= this.#until;
  }
  /** Nobody waits for the step any more. */
  end(): void {
    this.#until = 0;
  }
  /** `30 s` */
  get text(): string {
    return `${(this.#ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`;
  }
}

const LOOK_EVERY_MS = 100;

/** Looks until there is something; undefined once the time of the step is over. */
export async function until<T>(turn: Turn, look: () => Promise<T | undefined>): Promise<T | undefined> {
  for (;;) {
    const found = await look();
    if (found !== undefined || turn.isOver) return found;
    await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_EVERY_MS, turn.leftMs)));
  }
}

/** Where a step is played. */
export interface Place {
  page: Page;
  frame: Frame;
}

/** The pages of a browser in which a recording is played. */
export class PlayedPages {
  readonly main: Page;
  readonly #context: BrowserContext;

  constructor(main: Page) {
    this.main = main;
    this.#context = main.context();
  }

  /** The page and frame of a step. Throws `StepFailed` where they do not come in time. */
  async placeOf(step: RecordedStep, turn: Turn): Promise<Place> {
    const path = 'frame' in step ? (step.frame ?? []) : [];
    const found = await until(turn, async () => {
      const top = this.#target(step.target);
      const frame = top && path.reduce<Frame | undefined>((within, at) => within?.childFrames()[at], top.frame);
      return top && frame && { page: top.page, frame };
    });
    if (found) return found;
    const what = path.length > 0 ? `frame ${path.join('/')} of the page` : 'page';
    throw new StepFailed('target_not_found', `The ${what} was not there within ${turn.text}`);
  }

  #target(target: string | undefined): Place | undefined {
    if (target === undefined || target === 'main') return { page: this.main, frame: this.main.mainFrame() };
    const page = this.#context.pages().find((each) => each.url() === target);
    if (page) return { page, frame: page.mainFrame() };
    const frame = this.main.frames().find((each) => each.url() === target);
    return frame && { page: this.main, frame };
  }
}
