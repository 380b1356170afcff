import {
  decideMove,
  isFinal,
  assertNotFinal,
} from '../../../../domain/delivery/release-candidates/candidate-status-rules.ts';

const custom = ['on_hold'];

test.each([
  ['pending', 'in_progress'],
  ['in_progress', 'pending'],
  ['pending', 'aborted'],
  ['in_progress', 'finalized'],
  ['pending', 'on_hold'],
  ['on_hold', 'pending'],
  ['on_hold', 'finalized'],
])('%s moves to %s', (from, to) => {
  expect(decideMove(from, to, custom)).toBe(true);
});

test.each(['pending', 'in_progress', 'aborted', 'finalized', 'on_hold'])('%s to itself is no move', (status) => {
  expect(decideMove(status, status, custom)).toBe(false);
});

test.each(
  ['aborted', 'finalized'].flatMap((from) =>
    ['pending', 'in_progress', 'aborted', 'finalized', 'on_hold']
      .filter((to) => to !== from)
      .map((to) => [from, to] as const),
  ),
)('%s does not move to %s, and both are named', (from, to) => {
  expect(() => decideMove(from, to, custom)).toThrow(
    expect.objectContaining({ code: 'invalid_transition', message: expect.stringMatching(`${from} to ${to}`) }),
  );
});

test('a status that the project does not list is refused', () => {
  expect(() => decideMove('pending', 'on_hold')).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  expect(() => decideMove('pending', 'constructor', custom)).toThrow(
    expect.objectContaining({ code: 'invalid_request' }),
  );
});

test('the content of final candidates is locked, of others it is not', () => {
  expect(['pending', 'in_progress', 'on_hold', 'aborted', 'finalized'].map((status) => isFinal(status))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
  expect(() => assertNotFinal('aborted', 'r1')).toThrow(expect.objectContaining({ code: 'locked' }));
});
