import { Webhook } from 'standardwebhooks';
import {
  isWebhookSecret,
  newWebhookSecret,
  signedHeaders,
  signingKey,
} from '../../../../domain/events/webhooks/standard-webhooks.ts';

const body = '{"text":"größer 😀"}';

test('a receiver with the published library accepts the signature, of either secret', () => {
  const [current, previous] = [newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders('msg_1', body, [signingKey(current), signingKey(previous)], new Date());
  for (const secret of [current, previous])
    expect(new Webhook(secret).verify(body, headers)).toEqual({ text: 'größer 😀' });
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
  expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow();
});

test.each([
  [newWebhookSecret(), true],
  [`whsec_${Buffer.alloc(64).toString('base64')}`, true],
  [`whsec_${Buffer.alloc(65).toString('base64')}`, false],
  [`whsec_${Buffer.alloc(23).toString('base64')}`, false],
  ['whsec_', false],
  ['secret', false],
  [`whsec_${'*'.repeat(40)}`, false],
])('%s can be a secret: %p', (secret, expected) => {
  expect(isWebhookSecret(secret)).toBe(expected);
});
