import {
  ASSIGNMENT_STATES,
  assertMayRequest,
  extendedEnd,
  isOver,
  keyOf,
  type Lease,
  leaseEnd,
  shortenedLease,
  mayChange,
  mayMove,
  pullRequestOf,
  endWithOrg,
  warnsInMs,
} from '../../../../domain/review/review-assignments/assignment-rules.ts';
import { missingOrgs, prepareBackoffMs } from '../../../../domain/review/review-assignments/pool-upkeep-rules.ts';
import type { Actor } from '../../../../domain/kernel/shared/actor.ts';

const NOW = new Date('2026-03-02T12:00:00Z');
const hours = (count: number) => new Date(NOW.getTime() + count * 3_600_000);
const refused = expect.objectContaining({ code: 'invalid_transition' });

test('the table of moves', () => {
  const moves = Object.fromEntries(
    ASSIGNMENT_STATES.map((from) => [from, ASSIGNMENT_STATES.filter((to) => mayMove(from, to)).join(' ')]),
  );
  expect(moves).toEqual({
    pending: 'active released',
    active: 'released expired failed',
    released: '',
    expired: '',
    failed: '',
  });
});

test('a lease ends after its hours, with the org when that ends before, or never', () => {
  const lease = { hours: 24, isImmortal: false, orgEndsAt: null };
  expect(leaseEnd(NOW, lease)).toEqual(hours(24));
  expect(leaseEnd(NOW, { ...lease, orgEndsAt: hours(3) })).toEqual(hours(3));
  expect(leaseEnd(NOW, { ...lease, orgEndsAt: hours(30) })).toEqual(hours(24));
  expect(leaseEnd(NOW, { ...lease, isImmortal: true })).toBeNull();
  expect(leaseEnd(NOW, { ...lease, isImmortal: true, orgEndsAt: hours(30) })).toEqual(hours(30));
});

const active = (given: Partial<Lease> = {}): Lease => ({
  state: 'active',
  assignedAt: hours(-10),
  expiresAt: hours(1),
  orgEndsAt: null,
  ...given,
});
const allowed = { hours: 5, maxLeaseHours: 24 };

test('an extension counts from now, up to the most of the pool, never beyond the org, and shortens nothing', () => {
  expect(extendedEnd(active(), NOW, allowed)).toEqual(hours(5));
  expect(extendedEnd(active(), NOW, { ...allowed, hours: 14 })).toEqual(hours(14));
  expect(() => extendedEnd(active(), NOW, { ...allowed, hours: 15 })).toThrow(refused);
  expect(extendedEnd(active({ orgEndsAt: hours(3) }), NOW, allowed)).toEqual(hours(3));
  expect(extendedEnd(active({ expiresAt: hours(9) }), NOW, allowed)).toEqual(hours(9));
});

test('a lease that the end of its org shortens says so', () => {
  const lease = { expiresAt: hours(3), orgEndsAt: hours(3) };
  expect(shortenedLease(lease, NOW, 5)).toContain(`until ${hours(3).toISOString()}, not for 5 hours`);
  expect(shortenedLease(lease, NOW, 3)).toBeUndefined();
  expect(shortenedLease({ ...lease, orgEndsAt: null }, NOW, 5)).toBeUndefined();
});

test('what has expired, never expires or is not active cannot be extended', () => {
  expect(() => extendedEnd(active({ expiresAt: NOW }), NOW, allowed)).toThrow(refused);
  expect(() => extendedEnd(active({ expiresAt: null }), NOW, allowed)).toThrow(refused);
  for (const state of ['pending', 'released', 'expired', 'failed'] as const)
    expect(() => extendedEnd(active({ state }), NOW, allowed)).toThrow(refused);
  expect(isOver(active({ expiresAt: NOW }), NOW)).toBe(true);
  expect(isOver(active({ expiresAt: hours(0.001) }), NOW)).toBe(false);
  expect(isOver(active({ expiresAt: NOW, state: 'released' }), NOW)).toBe(false);
});

test('the end of a lease is announced once, two hours before; of brief ones not at all', () => {
  const lease = { assignedAt: hours(-10), expiresAt: hours(3), warnedAt: null };
  expect(warnsInMs(lease, NOW)).toBe(3_600_000);
  expect(warnsInMs({ ...lease, expiresAt: hours(1) }, NOW)).toBe(0);
  expect(warnsInMs({ ...lease, warnedAt: NOW }, NOW)).toBeNull();
  expect(warnsInMs({ ...lease, expiresAt: null }, NOW)).toBeNull();
  expect(warnsInMs({ ...lease, assignedAt: NOW, expiresAt: hours(2) }, NOW)).toBeNull();
});

const actor = (given: Partial<Actor>): Actor => ({
  type: 'user',
  id: 'u1',
  role: 'member',
  email: 'Dana@example.com',
  tenantId: 't',
  tenantSlug: 't',
  ...given,
});

test('members change what they requested and what is assigned to them; owners and applications any', () => {
  const dana = actor({});
  const other = actor({ id: 'u2', email: 'other@example.com' });
  const pr = { assignmentType: 'pr', assignmentKey: '1', requestedBy: other } as const;
  expect(mayChange(other, pr)).toBe(true);
  expect(mayChange(dana, pr)).toBe(false);
  expect(mayChange(actor({ role: 'owner' }), pr)).toBe(true);
  expect(mayChange(actor({ type: 'application', role: 'application' }), pr)).toBe(true);
  const ofDana = { ...pr, assignmentType: 'user', assignmentKey: keyOf('user', 'DANA@example.com') } as const;
  expect(mayChange(dana, ofDana)).toBe(true);
  assertMayRequest(dana, ofDana);
  expect(() => assertMayRequest(other, ofDana)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  assertMayRequest(other, { ...ofDana, assignmentType: 'custom' });
  assertMayRequest(actor({ role: 'owner' }), ofDana);
});

test('the number of a pull request', () => {
  const numberOf = (assignmentKey: string) => pullRequestOf({ assignmentType: 'pr', assignmentKey });
  expect([numberOf('118'), numberOf('x'), numberOf('9'.repeat(30))]).toEqual([118, null, null]);
  expect(pullRequestOf({ assignmentType: 'issue', assignmentKey: '118' })).toBeNull();
});

test.each<[string, Date | null, Date | null, Date | null, boolean, Date | null]>([
  ['an earlier end shortens', hours(24), null, hours(3), false, hours(3)],
  ['a later end gives back what the old one took', hours(3), hours(3), hours(48), false, hours(24)],
  ['no end any more gives all of it back', hours(3), hours(3), null, false, hours(24)],
  ['an end beyond the lease changes nothing', hours(24), hours(30), hours(48), false, hours(24)],
  ['an extended lease never gets shorter than its org', hours(30), hours(30), hours(48), false, hours(30)],
  ['an immortal one ends with its org alone', hours(3), hours(3), null, true, null],
  ['an immortal one gets the end of its org', null, null, hours(3), true, hours(3)],
])('when the end of an assigned org changes: %s', (_case, expiresAt, before, now, isImmortal, expected) => {
  const lease = { state: 'active' as const, assignedAt: NOW, expiresAt, orgEndsAt: before };
  expect(endWithOrg(lease, now, { hours: 24, isImmortal })).toEqual(expected);
});

test('the backoff of a pool doubles from 1 to 60 minutes', () =>
  expect([1, 2, 3, 6, 7, 8, 100].map((failures) => prepareBackoffMs(failures) / 60_000)).toEqual([
    1, 2, 4, 32, 60, 60, 60,
  ]));

test('a pool lacks what is to be available and who waits for, within what it may have', () => {
  const counts = { provisioning: 1, available: 1, assigned: 3, refreshing: 1, expired: 9, failed: 9 };
  const pool = { minAvailable: 5, maxInstances: 20 };
  expect(missingOrgs(counts, pool, 0)).toBe(2);
  expect(missingOrgs(counts, pool, 4)).toBe(6);
  expect(missingOrgs(counts, { ...pool, maxInstances: 7 }, 4)).toBe(1);
  expect(missingOrgs(counts, { ...pool, maxInstances: 2 }, 4)).toBe(0);
  const keepsNone = { minAvailable: 0, maxInstances: 20 };
  expect([0, 3, 4].map((waiting) => missingOrgs(counts, keepsNone, waiting))).toEqual([0, 0, 1]);
});
