import { errorOfStatus, nextStep } from '../../../../domain/events/webhooks/delivery-rules.ts';

const policy = { retryCount: 3, retryDelayMs: 1_000 };

test.each([
  [{ statusCode: 200 }, 1, { status: 'delivered' }],
  [{ statusCode: 204 }, 4, { status: 'delivered' }],
  [{ statusCode: 301 }, 1, { status: 'failed', isExhausted: false, isGone: false }],
  [{ statusCode: 400 }, 1, { status: 'failed', isExhausted: false, isGone: false }],
  [{ statusCode: 410 }, 1, { status: 'failed', isExhausted: false, isGone: true }],
  [{ statusCode: 408 }, 1, { status: 'pending', retryInMs: 1_000 }],
  [{ statusCode: 425 }, 1, { status: 'pending', retryInMs: 1_000 }],
  [{ statusCode: 429 }, 2, { status: 'pending', retryInMs: 2_000 }],
  [{ statusCode: 500 }, 3, { status: 'pending', retryInMs: 4_000 }],
  [{ statusCode: 503 }, 4, { status: 'failed', isExhausted: true, isGone: false }],
  [{ errorKind: 'network' }, 1, { status: 'pending', retryInMs: 1_000 }],
  [{ errorKind: 'timeout' }, 4, { status: 'failed', isExhausted: true, isGone: false }],
  [{ errorKind: 'refused' }, 1, { status: 'failed', isExhausted: false, isGone: false }],
  [{ errorKind: 'template' }, 1, { status: 'failed', isExhausted: false, isGone: false }],
] as const)('%j at try %i', (result, attempt, step) => {
  expect(nextStep(result, attempt, policy, 0)).toEqual(step);
});

test('the wait is jittered upwards by at most a fifth', () => {
  expect(nextStep({ statusCode: 500 }, 1, policy, 0.5)).toEqual({ status: 'pending', retryInMs: 1_100 });
});

test('what the receiver asks for counts when it is longer, up to a day', () => {
  expect(nextStep({ statusCode: 429, retryAfterMs: 30_000 }, 1, policy, 0)).toEqual({
    status: 'pending',
    retryInMs: 30_000,
  });
  expect(nextStep({ statusCode: 429, retryAfterMs: 10 }, 1, policy, 0)).toEqual({
    status: 'pending',
    retryInMs: 1_000,
  });
  expect(nextStep({ statusCode: 503, retryAfterMs: 9e9 }, 1, policy, 0)).toEqual({
    status: 'pending',
    retryInMs: 86_400_000,
  });
});

test('twenty doublings stay below a day', () => {
  const step = nextStep({ statusCode: 500 }, 20, { retryCount: 20, retryDelayMs: 3_600_000 }, 0.99);
  expect(step).toEqual({ status: 'pending', retryInMs: 86_400_000 });
});

test.each([
  [302, 'the receiver answered 302; redirects are not followed'],
  [404, 'the receiver answered 404, which is not retried'],
  [410, 'the receiver answered 410: it wants no more deliveries'],
  [429, 'the receiver answered 429'],
  [503, 'the receiver answered 503'],
])('the log says of %i: %s', (statusCode, error) => {
  expect(errorOfStatus(statusCode)).toBe(error);
});
