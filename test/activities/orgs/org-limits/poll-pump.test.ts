import { setTimeout as sleep } from 'node:timers/promises';
import { createPollPump, type PollPumpParts } from '../../../../activities/orgs/org-limits/poll-pump.ts';
import type { ClaimedOrg } from '../../../../domain/orgs/org-limits/poll-claims.queries.ts';
import type { TenantKey } from '../../../../domain/kernel/shared/actor.ts';
import { eventually } from '../../../support/eventually.ts';

/** Orgs that wait in a list for each tenant, and answer after a while; and what became of them. */
function stage(orgs: Record<string, number>, { silent = '' } = {}) {
  const waiting = new Map(
    Object.entries(orgs).map(([slug, count]) => [
      slug,
      Array.from({ length: count }, (_, index): ClaimedOrg => ({ orgId: `${slug}-${index}`, claim: 1 })),
    ]),
  );
  const open: Record<string, number> = {};
  const most: Record<string, number> = {};
  const asked: string[] = [];
  const recorded: string[] = [];
  const batches: number[] = [];
  const released: string[] = [];
  const count = (slug: string, by: number) => {
    open[slug] = (open[slug] ?? 0) + by;
    most[slug] = Math.max(most[slug] ?? 0, open[slug]);
  };
  const parts: PollPumpParts = {
    store: {
      claim: async ({ tenantSlug }, limit) => waiting.get(tenantSlug)?.splice(0, limit) ?? [],
      async release(_, claimed) {
        released.push(...claimed.map(({ orgId }) => orgId));
      },
    },
    polls: {
      async ask({ tenantSlug }, org, stop) {
        asked.push(org.orgId);
        count(tenantSlug, 1);
        count('all', 1);
        await sleep(tenantSlug === silent ? 2_147_483_647 : 20, undefined, { signal: stop }).catch(() => undefined);
        count(tenantSlug, -1);
        count('all', -1);
        return stop?.aborted ? 'cut off' : { ...org, at: new Date(), answer: { isOk: true, value: [] } };
      },
      async record(_, polls) {
        batches.push(polls.length);
        recorded.push(...polls.map(({ orgId }) => orgId));
        await sleep(5);
        return [...polls];
      },
    },
  };
  return { parts, most, asked, recorded, batches, released };
}
const tenant = (tenantSlug: string): TenantKey => ({ tenantId: tenantSlug, tenantSlug });
const never = new AbortController().signal;

test('each org is asked and recorded once, 16 of a tenant and 64 in all at a time', async () => {
  const slugs = ['a', 'b', 'c', 'd', 'e', 'f'];
  const { parts, most, asked, recorded, batches } = stage(Object.fromEntries(slugs.map((slug) => [slug, 100])));
  const pump = createPollPump(parts);
  const reports = await Promise.all(slugs.map((slug) => pump(tenant(slug), never)));
  for (const report of reports) expect(report).toEqual({ polled: 100, failed: 0, isMoreDue: false });
  expect(new Set(asked).size).toBe(600);
  expect(asked).toHaveLength(600);
  expect(recorded.toSorted()).toEqual(asked.toSorted());
  expect(most.all).toBe(64);
  for (const slug of slugs) expect(most[slug]).toBeLessThanOrEqual(16);
  expect(batches.length).toBeLessThan(300);
});

test('told to stop, a pump releases what it holds', async () => {
  const { parts, asked, recorded, released } = stage({ a: 100, b: 1 }, { silent: 'a' });
  const stop = new AbortController();
  const pump = createPollPump(parts);
  const pumping = pump(tenant('a'), stop.signal);
  await eventually(
    async () => asked.length,
    (count) => count >= 16,
  );
  // Whatever else of the first tenant had a place would be asked before the org of a second one is recorded.
  expect(await pump(tenant('b'), never)).toMatchObject({ polled: 1 });
  expect(asked.filter((org) => org.startsWith('a-'))).toHaveLength(16);
  stop.abort();
  expect(await pumping).toEqual({ polled: 0, failed: 0, isMoreDue: true });
  expect(released).toHaveLength(32);
  expect(recorded).toEqual(['b-0']);
});

test('a poll that cannot be recorded fails the pump when the others are done', async () => {
  const { parts, recorded } = stage({ a: 5 });
  let failures = 1;
  const { record } = parts.polls;
  parts.polls.record = async (...given) => {
    if (failures-- > 0) throw new Error('the database is away');
    return record(...given);
  };
  await expect(createPollPump(parts)(tenant('a'), never)).rejects.toThrow('the database is away');
  expect(recorded.length).toBeLessThan(5);
});
