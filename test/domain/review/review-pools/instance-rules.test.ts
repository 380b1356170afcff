import {
  decideMove,
  INSTANCE_STATES,
  type InstanceState,
  isLive,
  mayMove,
  SETTABLE_STATES,
  stateAfterRelease,
} from '../../../../domain/review/review-pools/instance-rules.ts';

test('the table of moves', () => {
  const moves = Object.fromEntries(
    INSTANCE_STATES.map((from) => [from, INSTANCE_STATES.filter((to) => mayMove(from, to)).join(' ')]),
  );
  expect(moves).toEqual({
    provisioning: 'available expired failed',
    available: 'assigned refreshing expired failed',
    assigned: 'available refreshing expired failed',
    refreshing: 'available expired failed',
    expired: '',
    failed: '',
  });
  expect(INSTANCE_STATES.filter(isLive)).toEqual(['provisioning', 'available', 'assigned', 'refreshing']);
});

test.each(INSTANCE_STATES.flatMap((from) => SETTABLE_STATES.map((to) => [from, to] as const)))(
  'a request that %s becomes %s',
  (from, to) => {
    const isFree = from !== 'assigned' || to === 'expired' || to === 'failed';
    if (from === to) expect(decideMove(from, to)).toBe(false);
    else if (mayMove(from, to) && isFree) expect(decideMove(from, to)).toBe(true);
    else expect(() => decideMove(from, to)).toThrow(expect.objectContaining({ code: 'invalid_transition' }));
  },
);

test('an assigned org may become what its pool makes of it', () => {
  const after = (['discard', 'reuse', 'refresh'] as const).map(stateAfterRelease);
  expect(after).toEqual(['expired', 'available', 'refreshing'] satisfies InstanceState[]);
  expect(after.every((state) => mayMove('assigned', state))).toBe(true);
});
