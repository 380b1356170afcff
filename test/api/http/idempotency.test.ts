import { Readable } from 'node:stream';
import { answerOnce } from '../../../api/http/idempotency.ts';
import { type Answer, RawReply } from '../../../api/http/replies.ts';
import { changesOfRequest } from '../../../api/http/request-changes.ts';
import type { Idempotency, KeptReply } from '../../../domain/kernel/idempotency/idempotency.mutations.ts';
import { DomainError, type ErrorCode } from '../../../domain/kernel/shared/errors.ts';
import { Slots } from '../../../domain/kernel/queues/slots.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const post = (status: number, key: string, body: unknown, as = app.owner) =>
  app.as(as).request(status, 'POST', '/api/application-tokens', { body, headers: { 'idempotency-key': key } });

test('a repetition gets the stored reply, secrets and all, and does nothing', async () => {
  const first = await post(201, 'once', { name: 'once' });
  const second = await post(201, 'once', { name: 'once' });
  expect(second.text).toBe(first.text);
  expect(first.headers.get('idempotency-replayed')).toBeNull();
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  const tokens = await app.as(app.owner).get(200, '/api/application-tokens');
  expect(tokens.filter(({ name }: { name: string }) => name === 'once')).toHaveLength(1);
});

test('the stored reply cannot be read in the database', async () => {
  const { body } = await post(201, 'sealed', { name: 'sealed' });
  const [row] = await app.sql<{ reply: string }>(`select reply from idempotency_key where key = 'sealed'`);
  expect(row?.reply).toMatch(/^v1\./);
  expect(row?.reply).not.toContain(body.token);
});

test('the same key with another body is refused', async () => {
  await post(201, 'other-body', { name: 'a-token' });
  const { body } = await post(422, 'other-body', { name: 'b-token' });
  expect(body.code).toBe('unprocessable');
});

test('what was refused for a state is done when the cause is gone', async () => {
  const { body } = await post(201, 'taken-1', { name: 'taken' });
  await post(409, 'taken-2', { name: 'taken' });
  await app.as(app.owner).delete(204, `/api/application-tokens/${body.id}`);
  const done = await post(201, 'taken-2', { name: 'taken' });
  expect(done.headers.get('idempotency-replayed')).toBeNull();
});

test('ten at once do it once: one is told that it is done, the others that it is done or under way', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      app
        .as(app.owner)
        .send('POST', '/api/application-tokens', { body: { name: 'race' }, headers: { 'idempotency-key': 'race' } }),
    ),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses].every((status) => status === 201 || status === 409)).toBe(true);
  expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).toBe(1);
  for (const { status, body } of answers) if (status === 409) expect(body.code).toBe('in_progress');
});

test('keys of different credentials do not meet', async () => {
  await post(201, 'shared', { name: 'mine' });
  await post(201, 'shared', { name: 'theirs' }, app.stranger);
});

test('a key whose request died is taken over after a while', async () => {
  const { id } = await app.as(app.owner).get(200, '/api/users/me');
  await app.db
    .insertInto('idempotency_key')
    .values({
      tenantId: app.tenant.id,
      subject: `user:${id}`,
      method: 'POST',
      path: '/api/application-tokens',
      key: 'dead',
      bodyHash: '',
      startedAt: new Date(Date.now() - 3 * 60_000),
    })
    .execute();
  await post(201, 'dead', { name: 'risen' });
});

test('an over-long key is refused', async () => {
  await post(400, 'x'.repeat(256), { name: 'long' });
});

describe('a request whose process died after its commit', () => {
  const die = (key: string, since: string) =>
    app.sql(
      `update idempotency_key set status = null, reply = null, done_at = now() - interval '${since}' where key = ?`,
      [key],
    );
  const named = async (name: string) => {
    const tokens = await app.as(app.owner).get(200, '/api/application-tokens');
    return tokens.filter((token: { name: string }) => token.name.startsWith(name)).length;
  };

  test('is never executed again', async () => {
    const postCandidate = (status: number) =>
      app.as(app.owner).request(status, 'POST', '/api/release-candidates', {
        body: {
          repositoryIdentifier: 'acme/shop',
          domain: 'core',
          releaseName: 'r1',
          commitSha: '4b825dc642cb6eb9',
          value: {},
        },
        headers: { 'idempotency-key': 'dies' },
      });
    await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' });
    await postCandidate(201);
    await die('dies', '10 seconds');
    await app.sql(`update idempotency_key set started_at = now() - interval '1 hour' where key = 'dies'`);
    const soon = await postCandidate(409);
    expect(soon.body.code).toBe('in_progress');
    await die('dies', '1 minute');
    const later = await postCandidate(409);
    expect(later.body).toMatchObject({ code: 'already_exists', detail: expect.stringContaining('its reply was lost') });
  });

  test('that was refused has done nothing, and is executed', async () => {
    await post(201, 'refused-1', { name: 'refused-name' });
    await post(409, 'refused-2', { name: 'refused-name' });
    expect(await app.sql(`select from idempotency_key where key = 'refused-2'`)).toEqual([]);
    await post(409, 'refused-2', { name: 'refused-name' });
    expect(await named('refused-name')).toBe(1);
  });
});

describe('what is kept of a reply', () => {
  /** The keys of one tenant in memory. @param isAway the table cannot be reached. */
  function keptInMemory({ isAway = false } = {}) {
    const kept = new Map<string, string | undefined>();
    const reached = async (work: () => void) => {
      if (isAway) throw new Error('the database is away');
      work();
    };
    const idempotency: Pick<Idempotency, 'claim' | 'keep' | 'free'> = {
      async claim(_, { key }) {
        const reply = kept.get(key);
        if (reply !== undefined) return { outcome: 'replayed', reply: JSON.parse(reply) as KeptReply };
        kept.set(key, undefined);
        return { outcome: 'mine' };
      },
      keep: (_, { key }, reply) => reached(() => kept.set(key, JSON.stringify(reply))),
      free: (_, { key }) => reached(() => kept.delete(key)),
    };
    const lost: unknown[] = [];
    const send = (handle: () => Promise<Partial<Answer>>) =>
      answerOnce(
        idempotency as Idempotency,
        () => Promise.reject(new Error('nothing is written')),
        { subject: 'user:1', method: 'POST', path: '/', key: 'a-key', bodyBytes: Buffer.alloc(0) },
        {
          handle: async () => ({ status: 200, headers: {}, body: '', ...(await handle()) }),
          onLostReply: (error) => void lost.push(error),
        },
      );
    const refusedWith = (code: ErrorCode) => send(() => Promise.reject(new DomainError(code, 'not now')));
    return { lost, send, refusedWith };
  }
  const done = async () => ({ status: 201, body: 'done' });

  test.each<ErrorCode>([
    'rate_limited',
    'in_progress',
    'unavailable',
    'not_found',
    'already_exists',
    'locked',
    'invalid_transition',
    'precondition_failed',
    'forbidden',
  ])('nothing of %s, which may be another answer later: the repetition is handled', async (code) => {
    const { send, refusedWith } = keptInMemory();
    await expect(refusedWith(code)).rejects.toMatchObject({ code });
    await expect(send(done)).resolves.toMatchObject({ status: 201, body: 'done' });
  });

  test.each([404, 409, 429, 503])('nothing of a reply with status %i', async (status) => {
    const { send } = keptInMemory();
    await send(async () => ({ status, body: '{"status":"error"}' }));
    await expect(send(done)).resolves.toMatchObject({ status: 201, body: 'done' });
  });

  test.each<ErrorCode>(['invalid_request', 'payload_too_large', 'unprocessable'])(
    'other refusals: %s',
    async (code) => {
      const { send, refusedWith } = keptInMemory();
      await expect(refusedWith(code)).rejects.toMatchObject({ code });
      await expect(send(done)).rejects.toMatchObject({ code, extras: { headers: { 'Idempotency-Replayed': 'true' } } });
    },
  );

  test('bytes, as they were', async () => {
    const { send } = keptInMemory();
    await send(async () => ({ body: Buffer.from('{"größe":1}') }));
    await expect(send(done)).resolves.toMatchObject({ status: 200, body: '{"größe":1}' });
  });

  test('nothing of what is sent as it comes', async () => {
    const { send } = keptInMemory();
    await send(async () => ({ body: new RawReply('application/json', Readable.from(['{}'])) }));
    await expect(send(done)).resolves.toMatchObject({ status: 201, body: 'done' });
  });

  test.each<ErrorCode>(['rate_limited', 'unprocessable'])(
    '%s is told also where that cannot be noted',
    async (code) => {
      const { lost, refusedWith } = keptInMemory({ isAway: true });
      await expect(refusedWith(code)).rejects.toMatchObject({ code });
      expect(lost).toMatchObject([{ message: 'the database is away' }]);
    },
  );
});

test('a request that has begun is not refused for how many of its tenant wait, and goes before them', async () => {
  const slots = new Slots({
    works: 'changes',
    total: 1,
    perHolder: 1,
    waitingPerHolder: 2,
    waitMs: 120_000,
    isContinuedFirst: true,
  });
  const done: string[] = [];
  const doing = (name: string) => async () => void done.push(name);
  const begun = changesOfRequest(slots);
  await begun('a', doing('claimed'));
  const held = Promise.withResolvers<void>();
  const others = [slots.run('a', () => held.promise), ...['b', 'c'].map((name) => slots.run('a', doing(name)))];
  await expect(changesOfRequest(slots)('a', doing('new'))).rejects.toMatchObject({ code: 'rate_limited' });
  const rest = [begun('a', doing('executed')), begun('a', doing('kept'))];
  held.resolve();
  await Promise.all([...others, ...rest]);
  await eventually(
    async () => slots.isUsedBy('a'),
    (isUsed) => !isUsed,
  );
  expect(done).toEqual(['claimed', 'executed', 'kept', 'b', 'c']);
});
