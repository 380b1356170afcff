import type { Picture } from '../chromium/browser.ts';
import { pictureHeader } from './live-protocol.ts';

/** Sent and not yet drawn: enough for 20 pictures a second over 200 ms there and back. */
const UNSEEN_MAX = 4;
/** What waits in this process for one viewer. */
const BUFFERED_MAX_BYTES = 1_048_576;

/** Where pictures go. */
export interface PictureSink {
  readonly bufferedAmount: number;
  send(data: Buffer, options: { binary: true; fin: boolean }): void;
}

/**
 * The pictures for one viewer: it is sent no more than it has drawn, so that what a slow one gets next is always the newest,
 * whatever lies between.
 */
export class PictureWindow {
  readonly #sink: PictureSink;
  #sent = 0;
  #seen = 0;
  #next: { tab: number; picture: Picture } | undefined;

  constructor(sink: PictureSink) {
    this.#sink = sink;
  }

  show(tab: number, picture: Picture): void {
    this.#next = { tab, picture };
    this.#send();
  }

  /** The viewer has drawn the picture of this number, and so all before it. */
  seen(number: number): void {
    if (number > this.#sent || number <= this.#seen) return;
    this.#seen = number;
    this.#send();
  }

  /** Another tab is shown from now on. */
  forget(): void {
    this.#next = undefined;
  }

  #send(): void {
    if (!this.#next) return;
    if (this.#sent - this.#seen >= UNSEEN_MAX || this.#sink.bufferedAmount > BUFFERED_MAX_BYTES) return;
    const { tab, picture } = this.#next;
    this.#next = undefined;
    this.#sent++;
    // Two parts of one message: the picture is copied for nobody.
    this.#sink.send(pictureHeader({ ...picture, tab, number: this.#sent }), { binary: true, fin: false });
    this.#sink.send(picture.jpeg, { binary: true, fin: true });
  }
}
