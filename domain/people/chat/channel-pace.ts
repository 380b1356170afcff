/** About as many messages as the platform takes of a channel: https://docs.slack.dev/apis/web-api/rate-limits */
const SPACE_MS = 1_000;

interface PacedChannel {
  /** When the next message may be sent that has no time yet. */
  freeAt: number;
  /** When each of those that wait may be sent, by id. */
  times: Map<string, number>;
}

/**
 * Spaces the messages of channels that refused one for coming too soon, in the order in which they ask; other channels
 * get theirs at once.
 */
export class ChannelPace {
  readonly #now: () => number;
  readonly #channels = new Map<string, PacedChannel>();

  /** @param now milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** In how many milliseconds a message may be sent; 0: now. */
  waitMs(channel: string, messageId: string): number {
    const paced = this.#channels.get(channel);
    if (!paced) return 0;
    const now = this.#now();
    if (now >= paced.freeAt) {
      this.#channels.delete(channel);
      return 0;
    }
    const at = paced.times.get(messageId) ?? this.#reserve(paced, messageId);
    if (at <= now) paced.times.delete(messageId);
    return Math.max(0, at - now);
  }

  /** Notes that a message was refused for coming too soon; answers in how many milliseconds it may be sent again. */
  refused(channel: string, messageId: string, retryAfterMs: number): number {
    const now = this.#now();
    const paced = this.#channels.get(channel) ?? { freeAt: 0, times: new Map<string, number>() };
    this.#channels.set(channel, paced);
    paced.freeAt = Math.max(paced.freeAt, now + Math.max(retryAfterMs, SPACE_MS));
    return this.#reserve(paced, messageId) - now;
  }

  #reserve(paced: PacedChannel, messageId: string): number {
    const at = paced.freeAt;
    paced.times.set(messageId, at);
    paced.freeAt = at + SPACE_MS;
    return at;
  }
}
