import {
  assertHoldMove,
  assertMayLift,
  type Hold,
  holdsNow,
  keepsFrom,
  lastToEnd,
  nextEnd,
  partedAt,
  shownHold,
  type StoredHold,
  whyHeld,
} from '../../../../domain/delivery/release-candidates/holds/hold-rules.ts';

const NOW = Date.parse('2026-12-01T12:00:00Z');
const person = (until: string | null = null): StoredHold => ({
  reason: 'price list',
  until,
  by: 'ada@acme.example',
  since: '2026-12-01T10:00:00.000Z',
});
const verified = (environmentId: string, contentDigest = 'now'): StoredHold => ({
  ...person(),
  reason: 'Command smoke: no',
  verification: { environmentId, contentDigest },
});
const facts = {
  contentDigest: 'now',
  environments: new Map([
    ['1', { name: 'sit', order: 1 }],
    ['2', { name: 'uat', order: 2 }],
  ]),
  now: NOW,
};
const of = (...stored: StoredHold[]): Hold[] => holdsNow(stored, facts);

test.each<[string, StoredHold[], (string | null)[]]>([
  ['nothing', [], []],
  [
    'a person, before verifications, and these in the order of releases',
    [verified('2'), verified('1'), person()],
    [null, 'sit', 'uat'],
  ],
  ['one whose time is over', [person('2026-12-01T12:00:00.000Z')], []],
  ['one whose time is not', [person('2026-12-01T12:00:00.001Z')], [null]],
  ['other content', [verified('1', 'before')], []],
  ['an environment that is gone', [verified('9')], []],
])('what counts: %s', (_, stored, expected) => {
  expect(of(...stored).map(({ environment }) => environment?.name ?? null)).toEqual(expected);
});

const place = { environmentName: 'prod', after: [], order: 3, isRollback: false };
test.each<[string, StoredHold, object, boolean]>([
  ['a person, from everywhere', person(), {}, true],
  ['a person, from rollbacks, too', person(), { isRollback: true }, true],
  ['a person, from where nothing has an order', person(), { order: undefined }, true],
  ['a verification, from what comes later', verified('2'), {}, true],
  ['a verification, from what asks for its environment', verified('2'), { order: 0, after: ['uat'] }, true],
  ['no verification from its own environment', verified('2'), { environmentName: 'uat', order: 3 }, false],
  ['nor from one at the same place', verified('2'), { order: 2 }, false],
  ['nor from one of another project', verified('2'), { order: undefined }, false],
  ['nor from rollbacks', verified('2'), { isRollback: true }, false],
])('it keeps a release back: %s', (_, stored, more, expected) => {
  const [hold] = of(stored);
  expect(hold && keepsFrom(hold, { ...place, ...more })).toBe(expected);
});

/** What each move comes to, for candidates in each state. */
test.each<['hold' | 'release', string, StoredHold[], boolean]>([
  ['hold', 'pending', [], true],
  ['hold', 'in_progress', [person()], true],
  ['hold', 'qa', [verified('1')], true],
  ['hold', 'aborted', [], false],
  ['hold', 'finalized', [], false],
  ['hold', 'finalized', [verified('1')], false],
  ['release', 'pending', [], true],
  ['release', 'pending', [person()], true],
  ['release', 'aborted', [], false],
  ['release', 'finalized', [], false],
  ['release', 'finalized', [verified('1')], true],
])('%s of one that is %s with %j', (move, status, stored, isAllowed) => {
  const decide = () => assertHoldMove(move, { status, releaseName: 'r1' }, of(...stored));
  if (isAllowed) expect(decide).not.toThrow();
  else expect(decide).toThrow(expect.objectContaining({ code: 'invalid_transition' }));
});

test('who lifts it', () => {
  const [own, failed] = of(person(), verified('1'));
  if (!own || !failed) throw new Error('nothing counts');
  for (const [type, role] of [
    ['user', 'member'],
    ['application', 'application'],
    ['system', 'owner'],
  ] as const) {
    expect(() => assertMayLift(own, { type, role })).not.toThrow();
    expect(() => assertMayLift(failed, { type, role })).toThrow(expect.objectContaining({ code: 'forbidden' }));
  }
  expect(() => assertMayLift(failed, { type: 'user', role: 'owner' })).not.toThrow();
});

test('what is said of it', () => {
  const [own, failed] = of(person('2026-12-02T00:00:00.000Z'), verified('2'));
  if (!own || !failed) throw new Error('nothing counts');
  expect(whyHeld(own)).toBe('is held by ada@acme.example until 2026-12-02T00:00:00Z: price list');
  expect(whyHeld(failed)).toBe('is held since its verification in uat failed: Command smoke: no');
  expect(shownHold([own, failed])).toMatchObject({ source: 'person', environmentName: null });
  expect(shownHold([failed])).toMatchObject({ source: 'verification', environmentName: 'uat' });
  expect(shownHold([])).toBeNull();
  expect(lastToEnd([own, failed])).toBe(failed);
});

test('when the next is over', () => {
  const early = person('2026-12-01T09:00:00.000Z');
  const late = person('2026-12-03T00:00:00.000Z');
  expect(nextEnd([late, early, person()])).toEqual(new Date('2026-12-01T09:00:00.000Z'));
  expect(nextEnd([person()])).toBeNull();
  expect(partedAt([early, late], NOW)).toEqual({ over: [early], rest: [late] });
});
