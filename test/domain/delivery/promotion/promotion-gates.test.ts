import fc from 'fast-check';
import { type Demands, promotionGates, waitingFor } from '../../../../domain/delivery/promotion/promotable-rules.ts';
import { DAYS } from '../../../../domain/projects/policies/promotion-policy-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START = Date.parse('2026-11-01T00:00:00Z');
const PLACES = ['dev', 'uat'];

const moment = fc.integer({ min: 0, max: 14 * 24 * 60 }).map((minutes) => START + minutes * MINUTE_MS);
const hour = fc.integer({ min: 0, max: 23 }).map((value) => `${String(value).padStart(2, '0')}:00`);
const window = fc.record({
  days: fc.subarray([...DAYS], { minLength: 1 }),
  from: hour,
  to: hour,
  timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
});
const freeze = fc.tuple(moment, fc.integer({ min: 1, max: 72 })).map(([from, hours]) => ({
  from: new Date(from).toISOString(),
  to: new Date(from + hours * HOUR_MS).toISOString(),
  reason: 'year end',
}));
const policy = fc.option(
  fc.record({
    after: fc.subarray(PLACES),
    soakMinutes: fc.constantFrom(0, 60, 3_000),
    requireVerified: fc.boolean(),
    windows: fc.array(window, { maxLength: 2 }),
    freezes: fc.array(freeze, { maxLength: 2 }),
  }),
);
const deployed = fc
  .array(fc.tuple(fc.constantFrom(...PLACES), fc.option(moment)), { maxLength: 2 })
  .map((places) => new Map(places));
const verifications = fc
  .array(fc.tuple(fc.constantFrom(...PLACES), fc.constantFrom('running', 'verified', 'failed')), { maxLength: 2 })
  .map((found) => new Map(found.map(([name, state]) => [name, { state, endedAt: START, detail: null }] as const)));
const demands: fc.Arbitrary<Demands[]> = fc.array(
  fc.record({ environmentName: fc.constantFrom('staging', 'prod'), policy, deployed, verifications }),
  { minLength: 1, maxLength: 3 },
);

test('the gates one by one say the same as what a run waits for', () => {
  fc.assert(
    fc.property(demands, moment, (all, now) => {
      const waiting = waitingFor(all, now);
      const { after, soak, window: opening } = promotionGates(all, now);
      const isSoaking = soak !== null && soak.endsAt !== null;
      const isLacking = after !== null && after.reason !== null;
      expect(waiting !== undefined).toBe(isLacking || isSoaking || !opening.isOpen);
      expect(waiting?.isForOthers ?? false).toBe(isLacking || isSoaking);
      if (isLacking) expect(waiting).toMatchObject({ nextAt: null, missing: after.missing, reason: after.reason });
      else if (isSoaking) expect(waiting?.nextAt ?? Infinity).toBeGreaterThanOrEqual(soak.endsAt ?? 0);
      else if (!opening.isOpen) expect(waiting).toMatchObject({ nextAt: opening.nextWindowAt, reason: opening.reason });
    }),
    propertyRuns(300, 20_000),
  );
});
