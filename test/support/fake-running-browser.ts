import {
  type BrowserEnd,
  type Cdp,
  CdpError,
  type EgressCounts,
  type RunningBrowser,
} from '../../activities/browser-host/chromium/browser.ts';

/** A browser that is none: it answers nothing, until it ends. */
export class FakeRunningBrowser implements RunningBrowser {
  readonly isolation = 'jailed';
  readonly pid = 0;
  isRunning = true;
  readonly egress: EgressCounts = { connections: 0, bytes: 0, allowed: new Map(), refused: new Map() };
  readonly #end = Promise.withResolvers<BrowserEnd>();
  readonly ended = this.#end.promise;
  readonly cdp: Cdp = {
    send: () => this.#failsAtEnd(),
    pass: () => this.#failsAtEnd(),
    onEvent: () => () => undefined,
    onAnyEvent: () => () => undefined,
    closed: this.ended.then(() => undefined),
  };

  allow(): void {}

  kill(end: BrowserEnd): void {
    this.isRunning = false;
    this.#end.resolve(end);
  }

  async #failsAtEnd(): Promise<never> {
    await this.ended;
    throw new CdpError('The browser is gone');
  }
}
