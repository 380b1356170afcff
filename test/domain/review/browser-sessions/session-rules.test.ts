import {
  isPassing,
  failureReason,
  pauseMs,
} from '../../../../domain/review/browser-sessions/provider-failure-rules.ts';
import { HOST_NAME } from '../../../../domain/projects/environments/org-host-rules.ts';
import {
  assertMayChange,
  assertMove,
  capOf,
  expiryOf,
  extendedExpiry,
  hasEnded,
  isOverdue,
  mayMove,
  SESSION_STATUSES,
  type SessionStatus,
  STATUS_REASONS,
  statusOfEnd,
} from '../../../../domain/review/browser-sessions/session-rules.ts';
import { type Actor, systemActor } from '../../../../domain/kernel/shared/actor.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 12) + minutes * 60_000);

test('the state table: what each status may become, and nothing else', () => {
  const moves: Record<SessionStatus, SessionStatus[]> = {
    provisioning: ['live', 'ended', 'error'],
    live: ['ended', 'expired', 'error'],
    ended: [],
    expired: [],
    error: [],
  };
  for (const from of SESSION_STATUSES) {
    expect(SESSION_STATUSES.filter((to) => mayMove(from, to))).toEqual(moves[from]);
    expect(hasEnded(from)).toBe(moves[from].length === 0);
  }
  expect(() => assertMove('expired', 'live')).toThrow('A session that is expired cannot become live');
});

test('a session lasts so long from when it is live, and at most an hour from its creation', () => {
  expect(expiryOf(at(0), at(2), 15)).toEqual(at(17));
  expect(expiryOf(at(0), at(2), 60)).toEqual(at(60));
  expect(capOf(at(0))).toEqual(at(60));
});

test.each<[SessionStatus, number, number, number, number | string]>([
  ['live', 15, 3, 10, 25],
  ['live', 15, 3, 60, 60],
  ['live', 59, 3, 60, 60],
  ['live', 60, 3, 1, 'it lasts until 2026-01-01T13:00:00.000Z, 60 minutes after it was created'],
  ['live', 15, 15, 1, 'it is expired'],
  ['provisioning', 15, 3, 1, 'it is provisioning'],
  ['ended', 15, 3, 1, 'it is ended'],
])('%s until minute %d, extended at minute %d by %d: %s', (status, until, now, minutes, expected) => {
  const extend = () => extendedExpiry({ status, createdAt: at(0), expiresAt: at(until) }, at(now), minutes);
  if (typeof expected === 'number') expect(extend()).toEqual(at(expected));
  else expect(extend).toThrow(`The session cannot be extended: ${expected}`);
});

test('provisioning for five minutes is overdue; a live session is not', () => {
  expect(isOverdue({ status: 'provisioning', createdAt: at(0) }, at(4.9))).toBe(false);
  expect(isOverdue({ status: 'provisioning', createdAt: at(0) }, at(5))).toBe(true);
  expect(isOverdue({ status: 'live', createdAt: at(0) }, at(50))).toBe(false);
});

test('every reason for an end leads to a status', () => {
  const ends = STATUS_REASONS.map((reason) => [reason, statusOfEnd(reason)]);
  expect(Object.fromEntries(ends)).toMatchObject({ expired: 'expired', browser_closed: 'ended', host_lost: 'error' });
});

test('members change their own sessions, owners and applications any', () => {
  const tenant = { tenantId: 't', tenantSlug: 'acme' };
  const person = (id: string, role: Actor['role']): Actor => ({
    ...tenant,
    type: 'user',
    id,
    role,
    email: `${id}@x.y`,
  });
  const session = { createdBy: person('ann', 'member') };
  for (const actor of [person('ann', 'member'), person('bob', 'owner'), systemActor(tenant, 'flow')])
    expect(() => assertMayChange(actor, session)).not.toThrow();
  expect(() => assertMayChange(person('bob', 'member'), session)).toThrow('The session belongs to ann@x.y');
});

test('failures that may pass are tried again, ever later', () => {
  expect(isPassing({ kind: 'limited' })).toBe(true);
  expect(isPassing({ kind: 'auth_failed' })).toBe(false);
  expect(failureReason({ kind: 'front_door_refused' })).toBe('front_door_refused');
  expect(failureReason({ kind: 'rejected' })).toBe('provider_error');
  expect([1, 2, 3, 1_000].map((attempt) => pauseMs(1_000, attempt))).toEqual([1_000, 1_500, 2_250, 30_000]);
});

test.each([
  ['crm.example.com', true],
  ['*.crm.example.com', true],
  ['localhost', true],
  ['127.0.0.1', false],
  ['127.1', false],
  ['*.com', false],
  ['*.-a.com', false],
  ['*.com:8080', false],
  ['a..example.com', false],
  ['*', false],
])('the host name %s: %s', (name, isOne) => {
  expect(HOST_NAME.test(name)).toBe(isOne);
});
