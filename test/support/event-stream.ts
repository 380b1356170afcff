import assert from 'node:assert/strict';
import type { Bearer, Json } from './client.ts';
import { eventually } from './eventually.ts';

/** An event as a browser would get it. */
export interface ServedEvent {
  event: string;
  data: Json;
  id: string | undefined;
}

/** A stream of server-sent events that a test follows; it goes on until the test closes it, or the service ends it. */
export class EventStream {
  readonly events: ServedEvent[] = [];
  comments = 0;
  /** What a browser would send when it comes back. */
  lastEventId = '';
  hasEnded = false;
  readonly #leave = new AbortController();

  /** @param url of the service. */
  static async open(url: string, path: string, { token }: Bearer, headers: Record<string, string> = {}) {
    const stream = new EventStream();
    const response = await fetch(url + path, {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      signal: stream.#leave.signal,
    });
    assert.equal(response.status, 200, `GET ${path} answered ${response.status}`);
    void stream.#follow(response);
    await stream.next('hello');
    return stream;
  }

  async #follow({ body }: Response): Promise<void> {
    let text = '';
    try {
      for await (const piece of body ?? []) {
        text += Buffer.from(piece).toString();
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#take(block);
      }
    } catch {
      // The connection was cut, by one side or the other.
    }
    this.hasEnded = true;
  }

  #take(block: string): void {
    const valueOf = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
    const id = valueOf('id');
    if (id !== undefined) this.lastEventId = id;
    if (/^:/m.test(block)) this.comments++;
    const data = valueOf('data');
    if (data !== undefined) this.events.push({ event: valueOf('event') ?? 'message', data: JSON.parse(data), id });
  }

  /** All things named so far, in their order. */
  get changes(): { topic: string; id: string | null; repositoryIdentifier: string | null }[] {
    return this.events.flatMap(({ event, data }) => (event === 'changes' ? data : []));
  }

  /** Resolves with an event of that name when one has come. */
  async next(name: string): Promise<ServedEvent> {
    const found = () => this.events.find(({ event }) => event === name);
    return (await eventually(async () => found(), Boolean)) as ServedEvent;
  }

  /** Resolves when something was named; an id that is left out matches any. */
  async named(topic: string, id?: string): Promise<void> {
    const isNamed = () => this.changes.some((one) => one.topic === topic && (id === undefined || one.id === id));
    await eventually(
      async () => isNamed() || this.events,
      (answer) => answer === true,
    );
  }

  async ended(): Promise<void> {
    await eventually(async () => this.hasEnded, Boolean);
  }

  close(): void {
    this.#leave.abort();
  }
}
