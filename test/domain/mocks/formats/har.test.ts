import { importHar } from '../../../../domain/mocks/formats/har.ts';
import { createStandIns } from '../../../../domain/mocks/recording/secret-fields.ts';

const standInOf = createStandIns('a key');
const JSON_TYPE = { name: 'Content-Type', value: 'application/json' };

interface Given {
  method?: string;
  url?: string;
  requestHeaders?: { name: string; value: string }[];
  postData?: unknown;
  status?: number;
  headers?: { name: string; value: string }[];
  content?: unknown;
}
const entry = ({
  method = 'GET',
  url = 'https://api.example.com/a',
  requestHeaders = [],
  postData,
  ...given
}: Given) => ({
  startedDateTime: '2026-01-01T00:00:00.000Z',
  time: 12,
  request: {
    method,
    url,
    httpVersion: 'HTTP/1.1',
    headers: requestHeaders,
    queryString: [],
    cookies: [],
    ...(postData !== undefined && { postData }),
  },
  response: {
    status: given.status ?? 200,
    headers: given.headers ?? [],
    content: given.content ?? { size: 0, mimeType: '' },
  },
});
const har = (...entries: unknown[]) => importHar(JSON.stringify({ log: { version: '1.2', entries } }), standInOf);
const json = (value: unknown) => ({ mimeType: 'application/json', text: JSON.stringify(value) });

describe('an HTTP archive', () => {
  it('becomes one step for each exchange, in their order', () => {
    const { scenario, steps, notTaken } = har(
      entry({
        url: 'https://api.example.com/a%20b/*?q=SELECT+Id&tag=1&tag=2',
        content: json({ ok: true }),
        headers: [JSON_TYPE],
      }),
      entry({ method: 'post', url: 'https://api.example.com/orders', postData: json({ id: 7 }), status: 201 }),
      entry({
        url: 'https://api.example.com/logo',
        content: { mimeType: 'image/png', text: 'iVBORw==', encoding: 'base64' },
      }),
    );
    expect(notTaken).toEqual([]);
    expect(scenario).toEqual({ mode: 'perEndpoint', upstream: 'https://api.example.com' });
    expect(steps).toEqual([
      {
        seq: 1,
        request: { method: 'GET', path: '/a%20b/%2A', query: { q: 'SELECT Id', tag: ['1', '2'] } },
        response: { status: 200, headers: { 'content-type': 'application/json' }, body: { ok: true } },
        times: 1,
      },
      {
        seq: 2,
        request: { method: 'POST', path: '/orders', body: { id: 7 } },
        response: { status: 201, headers: {} },
        times: 1,
      },
      {
        seq: 3,
        request: { method: 'GET', path: '/logo' },
        response: { status: 200, headers: { 'content-type': 'image/png' }, bodyBase64: 'iVBORw==' },
        times: 1,
      },
    ]);
  });

  it('has a stand-in for each secret, the same wherever it stands', () => {
    const token = 'SECRET-00Dxx!AQEAQ';
    const imported = har(
      entry({
        method: 'POST',
        url: 'https://api.example.com/oauth2/token?client_secret=SECRET-client',
        requestHeaders: [{ name: 'Cookie', value: 'sid=SECRET-cookie; theme=dark' }],
        postData: {
          mimeType: 'application/x-www-form-urlencoded',
          params: [
            { name: 'grant_type', value: 'refresh_token' },
            { name: 'refresh_token', value: 'SECRET-refresh' },
          ],
        },
        headers: [JSON_TYPE, { name: 'Set-Cookie', value: 'sid=SECRET-cookie; Path=/; HttpOnly\nother=SECRET-other' }],
        content: json({ access_token: token, nested: [{ refreshToken: 'SECRET-refresh' }], scope: 'api' }),
      }),
      entry({
        url: `https://api.example.com/frontdoor?sid=${encodeURIComponent(token)}`,
        requestHeaders: [{ name: 'Authorization', value: `Bearer ${token}` }],
        headers: [
          { name: 'Location', value: `/home?sid=${encodeURIComponent(token)}` },
          { name: 'X-Api-Key', value: 'SECRET-api' },
        ],
        status: 302,
        content: { mimeType: 'text/html', text: `<a>${token}</a><session_id>SECRET-xml</session_id>` },
      }),
    );
    expect(JSON.stringify(imported)).not.toContain('SECRET');
    const [first, second] = imported.steps;
    const standIn = standInOf(token);
    expect(first?.request).toEqual({ method: 'POST', path: '/oauth2/token', body: { grant_type: 'refresh_token' } });
    expect(first?.response.body).toMatchObject({ access_token: standIn, scope: 'api' });
    expect(first?.response.headers?.['set-cookie']).toEqual([
      `sid=${standInOf('SECRET-cookie')}; Path=/; HttpOnly`,
      `other=${standInOf('SECRET-other')}`,
    ]);
    expect(second?.request).toEqual({ method: 'GET', path: '/frontdoor' });
    expect(second?.response.headers).toMatchObject({ location: `/home?sid=${standIn}` });
    expect(second?.response.body).toContain(standIn);
  });

  it('says what it does not take, and where', () => {
    const { steps, notTaken } = har(
      entry({ url: 'wss://api.example.com/socket', status: 101 }),
      entry({ url: 'https://cdn.example.net/x.js' }),
      entry({ status: 0 }),
      { request: { url: 7 } },
      entry({ content: { size: 900, mimeType: 'text/css' } }),
      entry({ method: 'POST', postData: { mimeType: 'multipart/form-data; boundary=x', text: '--x' } }),
      entry({ method: 'GET', headers: [{ name: 'x-a', value: 'a\nb' }] }),
    );
    expect(steps).toHaveLength(3);
    expect(notTaken).toEqual([
      { pointer: '/log/entries/0/request/url', reason: 'is not an address of HTTP' },
      {
        pointer: '/log/entries/1/request/url',
        reason: 'is of https://cdn.example.net, the scenario is of https://api.example.com',
      },
      { pointer: '/log/entries/2/response/status', reason: '0 is not the end of an exchange' },
      { pointer: '/log/entries/3/request/method', reason: expect.any(String) },
      {
        pointer: '/log/entries/4/response/content/text',
        reason: 'the archive does not have the body of 900 bytes; the answer is empty',
      },
      { pointer: '/log/entries/5/request/postData', reason: 'a body of multipart/form-data is not compared' },
    ]);
  });

  it('keeps JSON that would change when it is read as a text', () => {
    const text = '{"id": 9007199254740993}';
    const { steps } = har(entry({ content: { mimeType: 'application/json', text } }));
    expect(steps[0]?.response.body).toBe(text);
  });

  it('takes 2,000 exchanges of more', () => {
    const { steps, notTaken } = har(...Array.from({ length: 2_003 }, () => entry({})));
    expect(steps).toHaveLength(2_000);
    expect(notTaken).toHaveLength(3);
    expect(notTaken[0]).toEqual({ pointer: '/log/entries/2000', reason: 'a scenario has at most 2000 steps' });
  });

  it.each([
    ['not JSON', '{', 'is not JSON'],
    ['another document', '{"log": {}}', '/log/entries'],
    ['no exchange by HTTP', '{"log": {"entries": [{}]}}', 'no exchange by HTTP'],
  ])('is refused when it is %s', (_what, content, message) => {
    expect(() => importHar(content, standInOf)).toThrow(message);
  });
});
