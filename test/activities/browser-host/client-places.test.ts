import { ClientPlaces } from '../../../activities/browser-host/live/client-places.ts';
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

test('guests, by however many links, leave places to those who may work in the session', () => {
  const places = new ClientPlaces();
  for (let link = 0; link < 4; link++) {
    const linkId = newId();
    for (let count = 0; count < 10; count++) expect(places.enter(came('watch', linkId))).toBeUndefined();
    expect(places.enter(came('watch', linkId))).toBeDefined();
  }
  expect(places.enter(came('control', newId()))).toContain('40 connections');
  const ada = by();
  for (let count = 0; count < 10; count++) expect(places.enter(came('control', null, ada))).toBeUndefined();
  expect(places.enter(came('connect'))).toContain('50 connections');
});

test('one caller has ten places of a session, and one that is given back is free', () => {
  const places = new ClientPlaces();
  const ada = by();
  const [first, ...others] = Array.from({ length: 10 }, () => came('control', null, ada));
  for (const one of [first, ...others]) expect(places.enter(one as never)).toBeUndefined();
  expect(places.enter(came('connect', null, ada))).toContain('You have 10');
  expect(places.enter(came('connect'))).toBeUndefined();
  places.leave(first as never);
  places.leave(first as never);
  expect(places.enter(came('connect', null, ada))).toBeUndefined();
  expect(places.enter(came('connect', null, ada))).toBeDefined();
});
