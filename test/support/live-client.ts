import { once } from 'node:events';
import { WebSocket } from 'ws';
import {
  type HostMessage,
  PICTURE_HEADER_BYTES,
  type PictureHead,
  readPictureHeader,
  type ViewerMessage,
} from '../../activities/browser-host/live/live-protocol.ts';
import { eventually } from './eventually.ts';

type Of<T extends HostMessage['type']> = Extract<HostMessage, { type: T }>;

/** Somebody who watches a browser by the protocol of live views. */
export class LiveClient {
  readonly messages: HostMessage[] = [];
  readonly pictures: (PictureHead & { jpeg: Buffer; receivedAtMs: number })[] = [];
  readonly socket: WebSocket;
  closed: { code: number } | undefined;
  /** Whether it says of each picture that it drew it. */
  draws = true;

  constructor(url: string, options: { headers?: Record<string, string>; origin?: string } = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary) {
        this.messages.push(JSON.parse(data.toString()) as HostMessage);
        return;
      }
      const head = readPictureHeader(data);
      this.pictures.push({ ...head, jpeg: data.subarray(PICTURE_HEADER_BYTES), receivedAtMs: Date.now() });
      if (this.draws) this.send({ type: 'seen', number: head.number });
    });
    this.socket.on('close', (code) => {
      this.closed = { code };
    });
    this.socket.on('error', () => undefined);
  }

  static async open(...given: ConstructorParameters<typeof LiveClient>): Promise<LiveClient> {
    const client = new LiveClient(...given);
    await once(client.socket, 'open');
    await client.got('welcome');
    return client;
  }

  send(message: ViewerMessage): void {
    this.socket.send(JSON.stringify(message));
  }

  last<T extends HostMessage['type']>(type: T): Of<T> | undefined {
    return this.messages.findLast((message): message is Of<T> => message.type === type);
  }

  /** The newest message of a type, once it is as wanted. */
  async got<T extends HostMessage['type']>(
    type: T,
    isWanted: (message: Of<T>) => boolean = () => true,
  ): Promise<Of<T>> {
    const found = await eventually(
      async () => this.last(type),
      (message) => message !== undefined && isWanted(message),
    );
    return found as Of<T>;
  }
}
