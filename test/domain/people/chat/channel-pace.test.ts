import { ChannelPace } from '../../../../domain/people/chat/channel-pace.ts';

/** Sends messages as soon as they may be to a channel that takes one a second; answers when each arrived, in ms. */
function sendAll(ids: readonly string[], retryAfterMs: number) {
  let now = 0;
  let takesAt = 0;
  let refusals = 0;
  const pace = new ChannelPace(() => now);
  const arrived = new Map<string, number>();
  const due = new Map(ids.map((id) => [id, 0]));
  while (due.size > 0) {
    now = Math.max(now, Math.min(...due.values()));
    for (const [id, at] of due) {
      if (at > now) continue;
      const waitMs = pace.waitMs('T1 C1', id);
      if (waitMs > 0) {
        due.set(id, now + waitMs);
      } else if (now < takesAt) {
        refusals += 1;
        due.set(id, now + pace.refused('T1 C1', id, retryAfterMs));
      } else {
        takesAt = now + 1_000;
        arrived.set(id, now);
        due.delete(id);
      }
    }
  }
  return { arrived, refusals };
}

test('a burst of 200 messages to a channel arrives one a second, in order', () => {
  const ids = Array.from({ length: 200 }, (_, index) => `m${index}`);
  const { arrived, refusals } = sendAll(ids, 1_000);
  expect([...arrived.keys()]).toEqual(ids);
  expect(Math.max(...arrived.values())).toBeLessThan(205_000);
  expect(refusals).toBeLessThan(5);
});

test('nothing is sent to a channel before its pause is over, and others do not wait', () => {
  let now = 0;
  const pace = new ChannelPace(() => now);
  expect(pace.waitMs('a', '1')).toBe(0);
  expect(pace.refused('a', '1', 30_000)).toBe(30_000);
  expect(pace.waitMs('a', '2')).toBe(31_000);
  expect(pace.waitMs('b', '3')).toBe(0);
  now = 30_000;
  expect(pace.waitMs('a', '1')).toBe(0);
  expect(pace.waitMs('a', '2')).toBe(1_000);
  now = 40_000;
  expect(pace.waitMs('a', '4')).toBe(0);
  expect(pace.waitMs('a', '5')).toBe(0);
});
