import {
  estimateWaitSeconds,
  isLive,
  stateAfterReturn,
} from '../../../../domain/delivery/environment-locks/lock-rules.ts';

test.each([
  ['asked', true, 'withdrawn'],
  ['queued', true, 'withdrawn'],
  ['held', true, 'released'],
  ['released', false, undefined],
  ['expired', false, undefined],
  ['withdrawn', false, undefined],
] as const)('a ticket that is %s', (state, live, after) => {
  expect([isLive(state), stateAfterReturn(state)]).toEqual([live, after]);
});

test.each([
  ['who has the lock does not wait', { position: 0, medianHoldSeconds: null, heldForSeconds: 5 }, 0],
  ['without past holds nothing is known', { position: 1, medianHoldSeconds: null, heldForSeconds: 5 }, null],
  ['the next waits for the rest of the hold', { position: 1, medianHoldSeconds: 100, heldForSeconds: 30 }, 70],
  [
    'a hold that is longer than usual ends at any moment',
    { position: 1, medianHoldSeconds: 100, heldForSeconds: 300 },
    0,
  ],
  ['each in between adds a whole hold', { position: 3, medianHoldSeconds: 100, heldForSeconds: 30 }, 270],
  ['nobody holds it: the first is at once', { position: 1, medianHoldSeconds: 100, heldForSeconds: null }, 0],
])('%s', (_, facts, seconds) => {
  expect(estimateWaitSeconds(facts)).toBe(seconds);
});
