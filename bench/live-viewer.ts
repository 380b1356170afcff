import { once } from 'node:events';
import { WebSocket } from 'ws';
import {
  type HostMessage,
  PICTURE_HEADER_BYTES,
  readPictureHeader,
  type ViewerMessage,
} from '../activities/browser-host/live/live-protocol.ts';
import type { Service } from './service.ts';

/** A viewer that reads slowly reads for so long, and then not. */
const [READS_MS, PAUSES_MS] = [50, 950];

/** Somebody who watches, and says of each picture at once that it was drawn. */
export class LiveViewer {
  ages: number[] = [];
  bytes = 0;
  readonly #socket: WebSocket;
  #pausing: NodeJS.Timeout | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) {
        const message = JSON.parse(data.toString()) as HostMessage;
        if (message.type === 'notice' || message.type === 'end') console.log(JSON.stringify(message));
        return;
      }
      const { atMs, number } = readPictureHeader(data);
      this.ages.push(Date.now() - atMs);
      this.bytes += data.length - PICTURE_HEADER_BYTES;
      this.send({ type: 'seen', number });
    });
  }

  static async open({ url, ownerToken }: Service, sessionId: string): Promise<LiveViewer> {
    const address = `${url.replace('http', 'ws')}/browser-sessions/${sessionId}/live/socket?mode=control`;
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${ownerToken}` } });
    const viewer = new LiveViewer(socket);
    await once(socket, 'open');
    return viewer;
  }

  send(message: ViewerMessage): void {
    this.#socket.send(JSON.stringify(message));
  }

  forget(): void {
    this.ages = [];
    this.bytes = 0;
  }

  readSlowly(): void {
    this.#socket.pause();
    this.#pausing = setTimeout(() => {
      this.#socket.resume();
      this.#pausing = setTimeout(() => this.readSlowly(), READS_MS);
    }, PAUSES_MS);
  }

  close(): void {
    clearTimeout(this.#pausing);
    this.#socket.resume();
    this.#socket.close();
  }
}
