import {
  chosenOf,
  decidedStatuses,
  expiryOf,
  isOver,
  mayPass,
  outcomeOfRefusal,
  tabOf,
} from '../../../console/delivery/approvals/inbox-rules.ts';

test.each([
  [undefined, 'mine'],
  ['open', 'open'],
  ['decided', 'decided'],
  ['everything', 'mine'],
] as const)('the tab of the address %p is %s', (given, tab) => expect(tabOf(given)).toBe(tab));

test.each([
  [undefined, ['approved', 'rejected', 'expired', 'stale']],
  ['rejected', ['rejected']],
  ['requested', []],
] as const)('the outcome %p asks for %p', (given, statuses) => expect(decidedStatuses(given)).toEqual(statuses));

const NOW = Date.parse('2026-03-02T09:00:00Z');
test.each([
  ['2026-03-02T08:59:59Z', 'over'],
  ['2026-03-02T09:00:00Z', 'over'],
  ['2026-03-02T09:59:59Z', 'soon'],
  ['2026-03-02T10:00:00Z', 'later'],
] as const)('what expires at %s is %s', (expiresAt, expiry) => expect(expiryOf({ expiresAt }, NOW)).toBe(expiry));

test('what was chosen and has gone from the list is told apart, and what is there is as it is now', () => {
  const chosen = [
    { id: 'a', votes: 0 },
    { id: 'b', votes: 0 },
  ];
  expect(chosenOf(chosen, [{ id: 'a', votes: 1 }])).toEqual({ here: [{ id: 'a', votes: 1 }], gone: [chosen[1]] });
});

const decided = (status: 'approved' | 'requested' | 'expired', resolvedBy: string | null) => ({ status, resolvedBy });
test.each([
  [409, decided('approved', 'dana'), { kind: 'meanwhile', status: 'approved', by: 'dana' }],
  [409, decided('expired', null), { kind: 'meanwhile', status: 'expired', by: null }],
  [409, decided('requested', null), { kind: 'refused', detail: 'no' }],
  [409, undefined, { kind: 'refused', detail: 'no' }],
  [403, decided('approved', 'dana'), { kind: 'refused', detail: 'no' }],
] as const)('a refusal with %p of what is %p now', (status, now, outcome) =>
  expect(outcomeOfRefusal({ status, detail: 'no' }, now)).toEqual(outcome),
);

test.each([
  [0, true],
  [401, true],
  [403, false],
  [404, false],
  [409, false],
  [422, false],
  [429, true],
  [500, true],
  [503, true],
])('after a failure with %d one may try again: %s', (status, expected) => expect(mayPass(status)).toBe(expected));

test.each([
  ['requested', false],
  ['approved', true],
  ['rejected', true],
  ['expired', true],
  ['stale', true],
] as const)('one that is %s is over: %s', (status, expected) => expect(isOver({ status })).toBe(expected));
