import { answerBody, requestCriterion } from '../../../domain/mocks/serving/message-body.ts';
import {
  createStandIns,
  headerWithStandIns,
  isSecretName,
  secretsOfHeaders,
  textWithStandIns,
} from '../../../domain/mocks/recording/secret-fields.ts';

const standInOf = createStandIns('key');
const standIn = standInOf('SECRET-1');

describe('stand-ins', () => {
  it('are the same for the same secret, other ones with another key, and stay as they are', () => {
    expect(standIn).toMatch(/^stand-in-[\da-f]{32}$/);
    expect(standInOf('SECRET-1')).toBe(standIn);
    expect(standInOf(standIn)).toBe(standIn);
    expect(createStandIns('other')('SECRET-1')).not.toBe(standIn);
  });

  it.each([
    ['access_token', true],
    ['refreshToken', true],
    ['sid', true],
    ['sf:sessionId', true],
    ['client_secret', true],
    ['nextPageToken', false],
    ['tokens', false],
    ['id', false],
  ])('are for values of %s: %s', (name, isSecret) => {
    expect(isSecretName(name)).toBe(isSecret);
  });

  it.each([
    ['<h:sessionId xsi:type="x">SECRET-1</h:sessionId>', `<h:sessionId xsi:type="x">${standIn}</h:sessionId>`],
    ['/frontdoor.jsp?retURL=x&sid=SECRET-1#a', `/frontdoor.jsp?retURL=x&sid=${standIn}#a`],
    ['{"access_token": "SECRET-1"}\n{"a": 1}', `{"access_token": "${standIn}"}\n{"a": 1}`],
    ['plain text', 'plain text'],
  ])('are in %s', (text, expected) => {
    expect(textWithStandIns(text, standInOf)).toContain(expected);
    expect(textWithStandIns(text, standInOf)).not.toContain('SECRET');
  });

  it('find the secrets of long texts without secrets in little time', () => {
    const texts = [
      '<a>'.repeat(100_000),
      'a='.repeat(200_000),
      '"a":"'.repeat(80_000),
      `${'x'.repeat(400_000)}=`,
      '&'.repeat(400_000),
    ];
    const before = process.threadCpuUsage();
    for (const text of texts) textWithStandIns(text, standInOf);
    const { user, system } = process.threadCpuUsage(before);
    expect(user + system).toBeLessThan(2_000_000);
  });

  it('are in cookies, of which the attributes stay', () => {
    expect(headerWithStandIns('Set-Cookie', 'sid=SECRET-1; Path=/; Secure', standInOf)).toBe(
      `sid=${standIn}; Path=/; Secure`,
    );
    expect(
      secretsOfHeaders([
        ['cookie', 'a=1; sid=SECRET-1'],
        ['authorization', 'Bearer SECRET-2'],
      ]),
    ).toEqual(['1', 'SECRET-1', 'SECRET-2']);
  });
});

describe('bodies of recorded exchanges', () => {
  it.each([
    ['JSON', Buffer.from('{"sid": "SECRET-1", "a": [1]}'), 'application/json', { body: { sid: standIn, a: [1] } }],
    ['JSON of a vendor', Buffer.from('[]'), 'application/vnd.api+json', { body: [] }],
    [
      'digits in texts',
      Buffer.from('{"a":"12345678901234567890","b":"3e4"}'),
      'application/json',
      { body: { a: '12345678901234567890', b: '3e4' } },
    ],
    ['broken JSON', Buffer.from('{'), 'application/json', { body: '{' }],
    ['a JSON text', Buffer.from('"a"'), 'application/json', { body: '"a"' }],
    ['nothing', Buffer.alloc(0), 'application/json', {}],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x41]), 'text/plain', { bodyBase64: '/0E=' }],
    ['another charset', Buffer.from('a'), 'text/plain; charset=iso-8859-1', { bodyBase64: 'YQ==' }],
    ['a text with U+0000', Buffer.from('a\0'), 'text/plain', { bodyBase64: 'YQA=' }],
    [
      'numbers that JavaScript does not hold',
      Buffer.from('{"n":9007199254740993}'),
      'application/json',
      { body: '{"n":9007199254740993}' },
    ],
    [
      'JSON that is nested deep',
      Buffer.from(`${'['.repeat(200)}${']'.repeat(200)}`),
      'application/json',
      { body: `${'['.repeat(200)}${']'.repeat(200)}` },
    ],
  ])('%s', (_what, bytes, type, expected) => {
    expect(answerBody(bytes, type, standInOf)).toEqual(expected);
  });

  it.each([
    ['JSON without its secrets', '{"a": 1, "password": "x"}', 'application/json', { a: 1 }],
    [
      'a form',
      'grant_type=refresh_token&refresh_token=x&a=1&a=2',
      'application/x-www-form-urlencoded',
      { grant_type: 'refresh_token', a: ['1', '2'] },
    ],
    ['secrets alone', '{"token": "x"}', 'application/json', undefined],
    ['what would be read as operators', '{"a": {"in": [1]}, "b": 2}', 'application/json', { a: {}, b: 2 }],
    ['a text', '<sid>SECRET-1</sid>', 'text/xml', `<sid>${standIn}</sid>`],
    ['several parts', '--x', 'multipart/form-data; boundary=x', undefined],
  ])('requests are compared by %s', (_what, text, type, expected) => {
    expect(requestCriterion(Buffer.from(text), type, standInOf)).toEqual(expected);
  });
});
