import {
  copyText,
  lookAgainIn,
  usualMinutes,
  whyNotDefined,
  whyNotNow,
} from '../../../../domain/delivery/sandboxes/sandbox-rules.ts';
import type { SandboxCopy } from '../../../../domain/orgs/crm/crm-sandboxes.port.ts';

const NOW = new Date('2026-11-28T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const copy = (hoursAgo: number, more: Partial<SandboxCopy> = {}): SandboxCopy => ({
  id: '0GR000000000001',
  name: 'uat',
  sandboxInfoId: '0GQ000000000001',
  licenseType: 'FULL',
  stage: 'completed',
  status: 'Completed',
  progress: 100,
  orgId: '00D000000000001',
  createdAt: new Date(NOW.getTime() - hoursAgo * HOUR_MS).toISOString(),
  endedAt: null,
  ...more,
});

describe('a definition of a sandbox', () => {
  test.each([
    [{ licenseType: 'Developer_Pro', activationGroup: 'Testers' }],
    [{ licenseType: 'developer pro', activationGroup: '00G000000000001' }],
    [{ licenseType: 'PARTIAL', templateId: '1ps000000000001' }],
    [{ licenseType: 'FULL' }],
    [{ sourceSandboxName: 'uat' }],
  ])('is complete: %j', (payload) => {
    expect(whyNotDefined(payload)).toBeNull();
  });
  test.each([
    [{}, 'licenseType'],
    [{ licenseType: ' ' }, 'licenseType'],
    [{ licenseType: 'HUGE' }, 'HUGE is no type'],
    [{ licenseType: 'DEVELOPER' }, 'activationGroup'],
    [{ licenseType: 'PARTIAL' }, 'templateId'],
  ])('lacks something: %j', (payload, why) => {
    expect(whyNotDefined(payload)).toContain(why);
  });
});

describe('the interval between copies', () => {
  const uat = { id: '0GQ000000000001', name: 'uat' };
  test.each([
    ['DEVELOPER', 23, 25],
    ['DEVELOPER_PRO', 23, 25],
    ['PARTIAL', 24 * 4, 24 * 5],
    ['FULL', 24 * 28, 24 * 29],
  ])('of a %s sandbox is kept', (licenseType, early, late) => {
    expect(whyNotNow({ ...uat, licenseType }, [copy(early)], NOW)).toContain('uat from 2026-1');
    expect(whyNotNow({ ...uat, licenseType }, [copy(late)], NOW)).toBeNull();
  });
  test('is not known of types that are not, and begins with the last copy that is not void', () => {
    expect(whyNotNow({ ...uat, licenseType: 'OTHER' }, [copy(0)], NOW)).toBeNull();
    const broken = copy(1, { stage: 'void', status: 'E' });
    expect(whyNotNow({ ...uat, licenseType: 'FULL' }, [broken, copy(24 * 30)], NOW)).toBeNull();
    expect(whyNotNow({ ...uat, licenseType: 'FULL' }, [broken], NOW)).toBeNull();
  });
  test('is no matter while a copy is under way', () => {
    const pending = copy(24 * 40, { stage: 'pending_activation', status: 'Pending Activation' });
    expect(whyNotNow({ ...uat, licenseType: 'FULL' }, [pending], NOW)).toContain('being copied');
  });
});

describe('an estimate', () => {
  const took = (minutes: number) =>
    copy(10, { endedAt: new Date(NOW.getTime() - 10 * HOUR_MS + minutes * 60_000).toISOString() });
  test('is the median of what others took', () => {
    expect(usualMinutes([])).toBeUndefined();
    expect(usualMinutes([copy(1)])).toBeUndefined();
    expect(usualMinutes([took(500), took(30), took(90)])).toBe(90);
    expect(usualMinutes([took(0.1)])).toBe(1);
  });
  test('tells what is left, and when it is over', () => {
    const processing = { status: 'Processing' };
    expect(copyText(copy(1, processing), undefined, NOW)).toBe('Processing');
    expect(copyText(copy(1, processing), 95, NOW)).toBe('Processing, about 35 min left');
    expect(copyText(copy(1, processing), 200, NOW)).toBe('Processing, about 2 h 20 min left');
    expect(copyText(copy(3, processing), 95, NOW)).toBe('Processing for 3 h 0 min; others took 1 h 35 min');
  });
  test('looks less often the longer it takes', () => {
    const seconds = (hours: number, progress: number | null, usual?: number) =>
      lookAgainIn(copy(hours, { progress }), usual, NOW);
    expect([0, 0.1, 0.5, 10].map((hours) => seconds(hours, null))).toEqual([30, 30, 90, 600]);
  });
  test('looks as often as what is left of it asks for', () => {
    const seconds = (hours: number, progress: number | null, usual?: number) =>
      lookAgainIn(copy(hours, { progress }), usual, NOW);
    expect([5, 50, 90, 99].map((progress) => seconds(4, progress))).toEqual([1_800, 1_800, 200, 120]);
    // Too early to tell: others say more.
    expect([seconds(1, 1), seconds(1, 1, 120), seconds(1, null, 62)]).toEqual([180, 450, 30]);
    // Others were quicker, and what they took says nothing any more.
    expect(seconds(4, null, 60)).toBe(600);
    // It stands still at its end for days.
    expect(seconds(100, 99)).toBe(454.54545454545456);
  });
});
