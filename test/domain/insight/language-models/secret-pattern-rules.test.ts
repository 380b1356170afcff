import { maskSecrets } from '../../../../domain/insight/language-models/secret-pattern-rules.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const letters = (length: number, alphabet = 'abcDEF0123') =>
  Array.from({ length }, (_, index) => alphabet[index % alphabet.length]).join('');

test.each([
  ['a token of GitHub', `ghp_${letters(36)}`],
  ['a fine-grained token of GitHub', `github_pat_${letters(60)}`],
  ['a token of GitLab', `glpat-${letters(20)}`],
  ['a token of Azure DevOps', `${letters(76)}AZDO${letters(4)}`],
  ['an old token of Azure DevOps', letters(52, 'abcdefg2345')],
  ['a session of Salesforce', `00D5g000004abcD!AQ.${letters(60)}`],
  ['an auth URL of Salesforce', `force://PlatformCLI::${letters(40)}@shop.my.salesforce.com`],
  ['a key of AWS', 'AKIAIOSFODNN7EXAMPLE'],
  ['a key of Google', `AIza${letters(35)}`],
  ['a key of OpenAI', `sk-proj-${letters(40)}`],
  ['a key of Anthropic', `sk-ant-api03-${letters(40)}`],
  ['a token of Slack', `xoxb-123456789012-${letters(24)}`],
  ['a receiver of Slack', `https://hooks.slack.com/services/T000/B000/${letters(24)}`],
  ['a key of Stripe', `sk_live_${letters(24)}`],
  ['a token of npm', `npm_${letters(36)}`],
  ['a token of ours', `qs_app_${letters(43)}`],
  ['a JSON web token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${letters(43)}`],
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----\nMIIEow${letters(64)}\n-----END RSA PRIVATE KEY-----`],
  ['a private key within JSON', `-----BEGIN PRIVATE KEY-----\\nMIIEow${letters(64)}\\n-----END PRIVATE KEY-----\\n`],
  ['a private key without its end', `-----BEGIN PRIVATE KEY-----\nMIIEow${letters(64)}`],
])('%s is masked', (_name, secret) => {
  for (const text of [`{"text":"Deploy with ${secret}"}`, secret, `key=${secret};`]) {
    const masked = maskSecrets(text);
    expect(masked).toContain('***');
    for (const part of secret.match(/\w{12,}/g) ?? []) expect(masked).not.toContain(part);
  }
  expect(maskSecrets(`{"text":"before ${secret}","more":"after"}`)).toMatch(/^\{"text":"before .*","more":"after"\}$/s);
});

test.each([
  ['password=hunter2', 'password=***'],
  ['{"password": "hunter2!", "user": "ann"}', '{"password": "***", "user": "ann"}'],
  ['{\\"client_secret\\":\\"a1b2c3d4\\"}', '{\\"client_secret\\":\\"***\\"}'],
  ["API_KEY = 'x-12345678'", "API_KEY = '***'"],
  ['DB_PASSWORD: s3cr3t-value', 'DB_PASSWORD: ***'],
  ['curl -H "Authorization: Bearer abcdefgh12345678"', 'curl -H "Authorization: Bearer ***"'],
  ['https://ann:pa55word@git.example.com/shop.git', 'https://***@git.example.com/shop.git'],
  ['postgres://app:pw@db/quayside', 'postgres://***@db/quayside'],
])('%s is masked where its value is', (text, masked) => {
  expect(maskSecrets(text)).toBe(masked);
});

test.each([
  'F12: 3 issues of level error in force-app/main/default/classes/Order.cls, line 18',
  'commit 0193f0c2a7b84e6d9c1f5a3b7e8d2c4f6a0b1c2d on main',
  'sha256 of the build is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'token: expired, password: required',
  'The id is 0193f0c2-a7b8-7e6d-9c1f-5a3b7e8d2c4f; see https://github.com/acme/shop/pull/12',
  'Basic authentication of the task-force is described in docs/README.md',
])('%s stays as it is', (text) => {
  expect(maskSecrets(text)).toBe(text);
});

test('hostile texts cost no more time than their length', () => {
  const begins = [
    'eyJ-',
    'sk-',
    '-----BEGIN PRIVATE KEY-----',
    'password=',
    'a://a:',
    'Bearer a',
    'Bearer  ',
    'token"',
    'a-',
  ];
  for (const begin of begins) {
    const text = begin.repeat(200_000 / begin.length);
    expect(threadCpuMs(() => void maskSecrets(text))).toBeLessThan(400);
  }
});
