import { ClientSlots } from '../../../activities/browser-host/live/client-slots.ts';
import type { HostGrant } from '../../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';

const by = (id = newId()) =>
  ({ type: 'user', id, tenantId: newId(), tenantSlug: 'acme', role: 'member', email: 'ada@acme.example' }) as const;
const sessionId = newId();
const came = (asks: HostGrant['asks'], linkId: string | null = null, who = by()) => ({
  sessionId,
  asks,
  linkId,
  by: who,
});

test('guests, by however many links, leave slots to those who may work in the session', () => {
  const slots = new ClientSlots();
  for (let link = 0; link < 4; link++) {
    const linkId = newId();
    for (let count = 0; count < 10; count++) expect(slots.enter(came('watch', linkId))).toBeUndefined();
    expect(slots.enter(came('watch', linkId))).toBeDefined();
  }
  expect(slots.enter(came('control', newId()))).toContain('40 connections');
  const ada = by();
  for (let count = 0; count < 10; count++) expect(slots.enter(came('control', null, ada))).toBeUndefined();
  expect(slots.enter(came('connect'))).toContain('50 connections');
});

test('one caller has ten slots of a session, and one that is given back is free', () => {
  const slots = new ClientSlots();
  const ada = by();
  const [first, ...others] = Array.from({ length: 10 }, () => came('control', null, ada));
  for (const one of [first, ...others]) expect(slots.enter(one as never)).toBeUndefined();
  expect(slots.enter(came('connect', null, ada))).toContain('You have 10');
  expect(slots.enter(came('connect'))).toBeUndefined();
  slots.leave(first as never);
  slots.leave(first as never);
  expect(slots.enter(came('connect', null, ada))).toBeUndefined();
  expect(slots.enter(came('connect', null, ada))).toBeDefined();
});
