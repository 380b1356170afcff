import { createEncryption } from '../../../../domain/kernel/encryption/encryption.ts';
import { generateKeys } from '../../../../domain/kernel/encryption/keys.ts';
import { EVENT_CATALOG } from '../../../../domain/events/webhooks/event-catalog.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually } from '../../../support/eventually.ts';
import { idleEngine } from '../../../support/launch.ts';

const RECEIVER = 'http://127.0.0.1:9/hook';
const woken: string[] = [];
const launch = {
  ...idleEngine,
  signalWithStartInBackground: (_: unknown, input: unknown) => {
    woken.push((input as { webhookId: string }).webhookId);
  },
};
const { encryptionKeys } = generateKeys();
const encryption = createEncryption(encryptionKeys);
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ launch, env: { ENCRYPTION_KEYS: encryptionKeys, TOKEN_KEYS: generateKeys().tokenKeys } });
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const plain = (more: object = {}, config: object = {}) => ({
  name: 'board',
  event: 'release.published',
  ...more,
  config: { url: RECEIVER, ...config },
});
const make = (more: object = {}, config: object = {}) => owner().post(201, '/api/webhooks', plain(more, config));
const pointers = (problem: { errors: { pointer: string }[] }) => problem.errors.map(({ pointer }) => pointer);

test('a new webhook has the defaults, and its secret is shown once', async () => {
  const webhook = await make();
  expect(webhook).toMatchObject({
    name: 'board',
    event: 'release.published',
    provider: 'http',
    config: { url: RECEIVER, method: 'POST', headers: {}, filter: {}, body: null },
    timeout: 10_000,
    retryCount: 3,
    retryDelay: 60_000,
    status: 'active',
    failureReason: null,
    lastDeliveryAt: null,
    errorCount: 0,
    createdBy: app.owner.email,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
  });
  const shown = await owner().get(200, `/api/webhooks/${webhook.id}`);
  expect(shown.secret).toBeUndefined();
  expect(shown.statistics).toEqual({ success: 0, failure: 0, pending: 0, successRate: null });
  expect((await owner().get(200, '/api/webhooks'))[0].secret).toBeUndefined();
});

test('neither secret nor header is stored in the clear, nor in the trail', async () => {
  const secret = `whsec_${Buffer.from('a secret of 24 bytes or m').toString('base64')}`;
  const webhook = await make({ secret }, { headers: { Authorization: 'Bearer hush-hush', 'X-Team': 'a' } });
  expect(webhook).toMatchObject({ secret, config: { headers: { Authorization: '[redacted]', 'X-Team': 'a' } } });
  const rows = await app.sql(
    'select row_to_json(w)::text as text from webhook w where id = ? union all select after::text from audit_entry where entity_id = ?',
    [webhook.id, webhook.id],
  );
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toMatch(/hush-hush|whsec_/);
});

test('a redacted header that is sent back keeps its value', async () => {
  const { id } = await make({}, { headers: { Authorization: 'Bearer hush' } });
  const sealed = await app.sql('select headers from webhook where id = ?', [id]);
  await owner().patch(200, `/api/webhooks/${id}`, {
    config: { headers: { Authorization: '[redacted]', 'X-Other': 'b' } },
  });
  expect(await app.sql('select headers from webhook where id = ?', [id])).not.toEqual(sealed);
  expect((await owner().get(200, `/api/webhooks/${id}`)).config.headers).toEqual({
    Authorization: '[redacted]',
    'X-Other': 'b',
  });
});

test.each([
  'http://127.0.0.2:9/hook',
  'http://127.0.0.1:10/hook',
  'https://127.0.0.1:9/hook',
  'http://localhost:9/hook',
  'http://127.0.0.1:9/another',
  'http://127.0.0.1:9/hook?to=another',
  'http://127.0.0.1:9//hook',
  'http://127.0.0.1:9/HOOK',
])('hidden headers do not follow a webhook to %s', async (url) => {
  const { id } = await make({}, { headers: { Authorization: 'Bearer hush', 'X-Team': 'a', 'X-Api-Key': 'hush' } });
  const changed = await owner().patch(200, `/api/webhooks/${id}`, { config: { url } });
  expect(changed).toMatchObject({
    config: { url, headers: { 'X-Team': 'a' } },
    warnings: ['Authorization', 'X-Api-Key'].map((name) => ({
      code: 'headers_dropped',
      pointer: `#/config/headers/${name}`,
      message: `The header ${name} is not kept for the new URL; send its value again if the receiver needs it`,
    })),
  });
  const [row] = await app.sql<{ headers: string }>('select headers from webhook where id = ?', [id]);
  expect(encryption.decrypt(row?.headers ?? '', `webhook:${id}`)).toBe('{"X-Team":"a"}');
  // Nor do they come back with the old address.
  const back = await owner().patch(200, `/api/webhooks/${id}`, { config: { url: RECEIVER } });
  expect(back).toMatchObject({ config: { headers: { 'X-Team': 'a' } }, warnings: [] });
});

test('a redacted header that is sent back to a new address is dropped, one that is sent anew is kept', async () => {
  const { id } = await make({}, { headers: { Authorization: 'Bearer hush', 'X-Secret': 'hush', 'X-Token': 'hush' } });
  const changed = await owner().patch(200, `/api/webhooks/${id}`, {
    config: { url: `${RECEIVER}/2`, headers: { authorization: '[redacted]', 'X-Secret': 'new' } },
  });
  expect(changed.config.headers).toEqual({ 'X-Secret': '[redacted]' });
  expect(changed.warnings).toMatchObject([{ code: 'headers_dropped', pointer: '#/config/headers/authorization' }]);
  const [row] = await app.sql<{ headers: string }>('select headers from webhook where id = ?', [id]);
  expect(encryption.decrypt(row?.headers ?? '', `webhook:${id}`)).toBe('{"X-Secret":"new"}');
});

test('the same address in another spelling keeps the headers', async () => {
  const { id } = await make({}, { url: 'http://localhost:80/hook', headers: { Authorization: 'Bearer hush' } });
  for (const url of ['http://localhost/hook', 'HTTP://LOCALHOST/hook', 'http://localhost/a/../hook#x']) {
    const changed = await owner().patch(200, `/api/webhooks/${id}`, { config: { url } });
    expect(changed).toMatchObject({ config: { headers: { Authorization: '[redacted]' } }, warnings: [] });
  }
});

test('dropped headers are announced by name', async () => {
  await make({ name: 'watcher', event: 'webhook.headers_dropped' });
  const { id } = await make({}, { headers: { Authorization: 'Bearer hush' } });
  await owner().patch(200, `/api/webhooks/${id}`, { config: { url: 'http://127.0.0.1:9/moved?token=x' } });
  const sent = await app.sql<{ payload: object }>(
    `select payload from webhook_delivery where event = 'webhook.headers_dropped' and payload->>'id' = ?`,
    [id],
  );
  expect(sent).toEqual([
    {
      payload: {
        id,
        name: 'board',
        event: 'release.published',
        events: ['release.published'],
        url: 'http://127.0.0.1:9/moved',
        headers: ['Authorization'],
      },
    },
  ]);
});

test('a repository-style body', async () => {
  await owner().post(201, '/api/projects', { identifier: 'acme/hooks', platform: 'host-a' });
  const webhook = await owner().post(201, '/api/webhooks', {
    repositoryIdentifier: 'acme/hooks',
    webhookUrl: RECEIVER,
  });
  expect(webhook).toMatchObject({
    name: 'acme/hooks',
    provider: 'host-a',
    event: 'push',
    repositoryIdentifier: 'acme/hooks',
    config: { url: RECEIVER },
  });
  const unknown = await owner().post(400, '/api/webhooks', {
    repositoryIdentifier: 'acme/unknown',
    webhookUrl: RECEIVER,
  });
  expect(pointers(unknown)).toEqual(['#/body/repositoryIdentifier']);
  expect(pointers(await owner().post(400, '/api/webhooks', { repositoryIdentifier: 'acme/hooks' }))).toEqual([
    '#/body/webhookUrl',
  ]);
  const both = await owner().post(400, '/api/webhooks', {
    repositoryIdentifier: 'acme/hooks',
    webhookUrl: RECEIVER,
    event: 'x',
  });
  expect(pointers(both)).toEqual(['#/body/event']);
});

test.each([
  [{}, { url: 'http://10.0.0.1/' }, '#/body/config/url'],
  [{}, { url: 'http://167772161/' }, '#/body/config/url'],
  [{}, { url: 'http://0xa.0.0.1/' }, '#/body/config/url'],
  [{}, { url: 'http://[::ffff:10.0.0.1]/' }, '#/body/config/url'],
  [{}, { url: 'http://0.0.0.0/' }, '#/body/config/url'],
  [{}, { url: 'ftp://example.com/' }, '#/body/config/url'],
  [{}, { url: 'http://user:pass@example.com/' }, '#/body/config/url'],
  [{}, { url: 'nonsense' }, '#/body/config/url'],
  [{}, { method: 'GET' }, '#/body/config/method'],
  [{}, { headers: { Host: 'a' } }, '#/body/config/headers/Host'],
  [{}, { headers: { 'Webhook-Signature': 'a' } }, '#/body/config/headers/Webhook-Signature'],
  [{}, { headers: { 'X-A': 'a\r\nb: c' } }, '#/body/config/headers/X-A'],
  [{}, { headers: { 'a b': 'c' } }, '#/body/config/headers/a b'],
  [{}, { filter: { 'data.x': { like: 1 } } }, '#/body/config/filter/data.x'],
  [{}, { filter: { 'data.x': { regex: '(' } } }, '#/body/config/filter/data.x'],
  [{}, { body: '{% for %}' }, '#/body/config/body'],
  [{}, { body: '{{ data.x | upcase }}' }, '#/body/config/body'],
  [{}, { unknown: 1 }, '#/body/config/unknown'],
  [{ timeout: 999 }, {}, '#/body/timeout'],
  [{ timeout: 60_001 }, {}, '#/body/timeout'],
  [{ retryCount: 21 }, {}, '#/body/retryCount'],
  [{ retryDelay: 99 }, {}, '#/body/retryDelay'],
  [{ event: 'Release Published' }, {}, '#/body/event'],
  [{ secret: 'short' }, {}, '#/body/secret'],
  [{ status: 'active' }, {}, '#/body/status'],
])('refused: %j %j', async (more, config, pointer) => {
  const before = await app.sql('select count(*) from webhook');
  expect(pointers(await owner().post(400, '/api/webhooks', plain(more, config)))).toContain(pointer);
  expect(await app.sql('select count(*) from webhook')).toEqual(before);
});

test('PATCH changes what it names and leaves the rest', async () => {
  const { id } = await make({ retryCount: 5 }, { filter: { type: 'x' }, body: '{{ type }}', headers: { 'X-A': '1' } });
  const changed = await owner().patch(200, `/api/webhooks/${id}`, {
    name: 'renamed',
    config: { body: null, method: 'PUT' },
  });
  expect(changed).toMatchObject({
    name: 'renamed',
    retryCount: 5,
    config: { url: RECEIVER, method: 'PUT', body: null, filter: { type: 'x' }, headers: { 'X-A': '1' } },
  });
  expect(await owner().patch(200, `/api/webhooks/${id}`, {})).toMatchObject({ name: 'renamed' });
  for (const body of [
    { status: 'failed' },
    { provider: 'http' },
    { secret: 'x' },
    { config: { url: 'http://10.0.0.1/' } },
    { config: { body: '{{ 1 }}' } },
  ]) {
    await owner().patch(400, `/api/webhooks/${id}`, body);
  }
});

test('a webhook that failed is active again when its owner says so', async () => {
  const { id } = await make();
  await app.sql(
    `update webhook set status = 'failed', failure_reason = 'gone', error_count = 20, exhausted_in_a_row = 20 where id = ?`,
    [id],
  );
  expect(await owner().get(200, `/api/webhooks/${id}`)).toMatchObject({
    status: 'failed',
    failureReason: 'gone',
    errorCount: 20,
  });
  woken.length = 0;
  expect(await owner().patch(200, `/api/webhooks/${id}`, { status: 'active' })).toMatchObject({
    status: 'active',
    failureReason: null,
    errorCount: 0,
  });
  expect(
    await eventually(
      async () => woken,
      ({ length }) => length > 0,
    ),
  ).toEqual([id]);
  expect(await app.sql('select exhausted_in_a_row as streak from webhook where id = ?', [id])).toEqual([{ streak: 0 }]);
});

test('a deleted webhook is gone, and its secrets with it', async () => {
  const { id } = await make({}, { headers: { 'X-A': '1' } });
  await owner().delete(204, `/api/webhooks/${id}`);
  await owner().get(404, `/api/webhooks/${id}`);
  await owner().patch(404, `/api/webhooks/${id}`, {});
  await owner().delete(404, `/api/webhooks/${id}`);
  await owner().post(404, `/api/webhooks/${id}/rotate-secret`);
  expect((await owner().get(200, '/api/webhooks')).some((webhook: { id: string }) => webhook.id === id)).toBe(false);
  expect(await app.sql('select secret, headers from webhook where id = ?', [id])).toEqual([
    { secret: '', headers: null },
  ]);
});

test('a preview says whether an event is sent, and as what, without a webhook', async () => {
  const preview = (body: object, status = 200) => owner().post(status, '/api/webhooks/preview', body);
  const event = 'release.published';
  const plainly = await preview({ event });
  expect(plainly).toMatchObject({ isSent: true, error: null, envelope: { type: event } });
  expect(JSON.parse(plainly.body)).toEqual(plainly.envelope);
  const data = { domain: 'sales', note: 'a "b"' };
  const config = { filter: { 'data.domain': ['core'] }, body: '{"text": {{ data.note | json }}}' };
  expect(await preview({ event, data, config })).toMatchObject({ isSent: false, body: '{"text": "a \\"b\\""}' });
  expect(await preview({ event, data, config: { body: '{{ data.none }}' } })).toMatchObject({
    isSent: true,
    body: null,
    error: 'unknown path data.none',
  });
  expect(pointers(await preview({ event, config: { body: '{% if x %}' } }, 400))).toEqual(['#/body/config/body']);
  expect(pointers(await preview({ event, config: { filter: { 'data.x': {} } } }, 400))).toEqual([
    '#/body/config/filter',
  ]);
  await app.as(app.member).post(403, '/api/webhooks/preview', { event });
});

test('a preview of patterns that take too much work is cut, and says so', async () => {
  const filter = { 'data.text': { regex: '(?:[a-z]{1,200}x){1,4}' } };
  const preview = await owner().post(200, '/api/webhooks/preview', {
    event: 'push',
    data: { text: 'a'.repeat(200_000) },
    config: { filter },
  });
  expect(preview).toMatchObject({ isSent: null, body: null, error: expect.stringContaining('too much work') });
});

test('every change is in the trail', async () => {
  const { id } = await make();
  await owner().patch(200, `/api/webhooks/${id}`, { name: 'b' });
  await owner().post(200, `/api/webhooks/${id}/rotate-secret`);
  await owner().delete(204, `/api/webhooks/${id}`);
  const entries = await app.sql('select action, source, actor from audit_entry where entity_id = ? order by sequence', [
    id,
  ]);
  expect(entries.map(({ action }) => action)).toEqual([
    'webhook.created',
    'webhook.updated',
    'webhook.secret_rotated',
    'webhook.deleted',
  ]);
  expect(entries[0]).toMatchObject({ source: 'webhook', actor: { email: app.owner.email } });
});

test('the catalog tells every event that is emitted, by name', async () => {
  const catalog = await app.as(app.member).get(200, '/api/webhooks/event-catalog');
  expect(Object.keys(catalog).toSorted()).toEqual(Object.keys(EVENT_CATALOG).toSorted());
  for (const [event, { sample }] of Object.entries<{ sample: unknown }>(catalog))
    expect(sample).toMatchObject({ type: event });
  expect(catalog['release.published']).toMatchObject({
    event: 'release.published',
    sample: { type: 'release.published' },
  });
});
