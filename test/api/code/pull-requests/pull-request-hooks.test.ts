import { randomUUID } from 'node:crypto';
import { HOSTS, type HostHook, sent } from '../../../simulators/host-hooks.ts';
import { pullRequestHook, reviewHook, type SimulatedPullRequest } from '../../../simulators/pull-request-hooks.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { hooked, sendHook } from '../../../support/hooked.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const send = (status: number, hook: HostHook, secret: string) => sendHook(app, status, sent(hook, secret));
const rowsOf = (repository: string, tenant = app.tenant.id): Promise<Json[]> =>
  app.sql(
    `select r.*, r.created_at = r.updated_at as is_untouched from pull_request r join project p on p.id = r.project_id
     where p.identifier = ? and p.tenant_id = ? order by r.number`,
    [repository, tenant],
  );
/** A whole second, as hosts tell times; the same for all of the file. */
const NOW_MS = Math.floor(Date.now() / 1_000) * 1_000;
const ago = (seconds: number) => new Date(NOW_MS - seconds * 1_000);
const shuffled = <Value>(values: readonly Value[]): Value[] =>
  values
    .map((value) => ({ value, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);

test.each(HOSTS)(
  '%s: hooks of a pull request in any order, all at once and repeated, come to the same row',
  async (host) => {
    const { repository, secret } = await hooked(app, host);
    const story: Partial<SimulatedPullRequest>[] = [
      { title: 'Begin', isDraft: true, at: ago(60) },
      { title: 'Begin', at: ago(50) },
      { title: 'Better', requested: ['erin'], labels: ['bug'], at: ago(40) },
      { title: 'Better', reviewed: { erin: 'approved' }, labels: ['bug'], at: ago(30) },
      { title: 'Better', state: 'merged', reviewed: { erin: 'approved' }, labels: ['bug'], at: ago(20) },
    ];
    const openedAt = ago(60);
    const hooksOf = (number: number) =>
      story.map((step) => pullRequestHook(host, { repository, number, openedAt, headSha: 'a'.repeat(40), ...step }));
    for (const hook of hooksOf(1)) await send(202, hook, secret);
    const [expected] = await rowsOf(repository);
    expect(expected).toMatchObject({
      title: 'Better',
      state: 'merged',
      author: 'dana',
      is_in_review: false,
      awaited: [],
    });
    const tenfold = [2, 3].flatMap((number) =>
      hooksOf(number).flatMap((hook) =>
        Array.from({ length: 10 }, () => {
          const id = randomUUID();
          // Ids of their own, since repetitions of one delivery are not looked at again.
          return {
            ...hook,
            headers: { ...hook.headers, 'x-github-delivery': id, 'idempotency-key': id },
            body: { ...hook.body, id },
          };
        }),
      ),
    );
    await Promise.all(shuffled(tenfold).map((hook) => send(202, hook, secret)));
    const rows = await rowsOf(repository);
    expect(rows).toHaveLength(3);
    const shown = ({
      number: _,
      url: __,
      created_at: ___,
      updated_at: ____,
      is_untouched: _____,
      branch: ______,
      ...row
    }: Json) => row;
    for (const row of rows.slice(1)) expect(shown(row)).toEqual(shown(expected));
  },
);

test('reviews of host-a count beside the hooks of the pull request', async () => {
  const { repository, secret } = await hooked(app, 'host-a');
  const request = { repository, number: 1, openedAt: ago(60), at: ago(60) };
  await send(202, pullRequestHook('host-a', { ...request, requested: ['Erin', 'frank'] }), secret);
  expect(await rowsOf(repository)).toMatchObject([{ awaited: ['erin', 'frank'], is_in_review: true, reviews: {} }]);
  await expect(
    send(
      202,
      reviewHook(
        { ...request, requested: ['frank'], at: ago(50) },
        { by: 'Erin', state: 'changes_requested', at: ago(50) },
      ),
      secret,
    ),
  ).resolves.toEqual({ outcome: 'accepted', events: 1 });
  expect(await rowsOf(repository)).toMatchObject([
    { awaited: ['frank'], reviews: { erin: { state: 'changes_requested', at: ago(50).toISOString() } } },
  ]);
});

test.each(HOSTS)('%s: forged, stale, replayed and foreign hooks change nothing', async (host) => {
  const { repository, secret } = await hooked(app, host);
  const stranger = await hooked(app, host, { owner: app.stranger, repository });
  const request = { repository, number: 1, openedAt: ago(60), at: ago(60) };
  const hook = pullRequestHook(host, request);
  await send(401, hook, `${secret}x`);
  await send(401, hook, (await hooked(app, host)).secret);
  await sendHook(app, 401, { path: `/api/hooks/${host}`, headers: hook.headers, rawBody: JSON.stringify(hook.body) });
  await expect(rowsOf(repository)).resolves.toEqual([]);
  await send(202, hook, stranger.secret);
  await expect(rowsOf(repository)).resolves.toEqual([]);
  const [theirTenant] = await app.sql<{ id: string }>(`select id from tenant where slug = 'other'`);
  await expect(rowsOf(repository, theirTenant?.id)).resolves.toHaveLength(1);

  const stale = pullRequestHook(host, { ...request, openedAt: ago(9 * 86_400), at: ago(8 * 86_400) });
  await expect(send(400, stale, secret)).resolves.toMatchObject({ code: 'invalid_request' });
  await expect(rowsOf(repository)).resolves.toEqual([]);

  await expect(send(202, hook, secret)).resolves.toEqual({ outcome: 'accepted', events: 1 });
  await send(202, pullRequestHook(host, { ...request, title: 'Later', at: ago(50) }), secret);
  const replay = { ...hook, headers: { ...hook.headers, 'x-github-delivery': 'new', 'idempotency-key': 'new' } };
  await expect(send(202, replay, secret)).resolves.toEqual({ outcome: 'known', events: 0 });
  await expect(rowsOf(repository)).resolves.toMatchObject([{ title: 'Later' }]);
});

test('what changes nothing that is known writes no row', async () => {
  const { repository, secret } = await hooked(app, 'host-a');
  const request = { repository, number: 1, openedAt: ago(60), at: ago(60) };
  await send(202, pullRequestHook('host-a', request), secret);
  await send(202, pullRequestHook('host-a', request), secret);
  expect(await rowsOf(repository)).toMatchObject([{ is_untouched: true }]);
});

test('a pull request that makes no sense is ignored; one with a hostile name is kept as it is', async () => {
  const { repository, secret } = await hooked(app, 'host-a');
  const hook = pullRequestHook('host-a', { repository, number: 1 });
  await expect(
    send(202, { ...hook, body: { ...hook.body, pull_request: [null, { number: 7 }] } }, secret),
  ).resolves.toEqual({ outcome: 'ignored', events: 0 });
  const title = `'; drop table pull_request; -- \u202e<script>\0`;
  await send(202, pullRequestHook('host-a', { repository, number: 2, title: title.slice(0, -1) }), secret);
  await expect(rowsOf(repository)).resolves.toMatchObject([{ number: 2, title: title.slice(0, -1) }]);
});
