import type { Demands } from '../../../../domain/delivery/promotion/promotable-rules.ts';
import { violationsOf } from '../../../../domain/delivery/promotion/violation-rules.ts';

const AT = Date.parse('2026-11-22T12:00:00Z');
const freeze = { from: '2026-11-20T00:00:00Z', to: '2026-11-25T00:00:00Z', reason: 'sale' };
const monday = { days: ['mon' as const], from: '09:00', to: '10:00', timezone: 'UTC' };

test.each<[string, Demands['policy'], boolean, string[]]>([
  ['no policy', null, false, []],
  ['a freeze, which hides that its windows are closed', { freezes: [freeze], windows: [monday] }, false, ['frozen']],
  ['closed windows', { windows: [monday] }, false, ['outside_window']],
  ['what comes before', { after: ['uat', 'sit'] }, false, ['not_deployed_before']],
  ['deployed before', { after: ['uat'] }, false, []],
  ['not for long enough', { after: ['uat'], soakMinutes: 60 }, false, ['not_soaked']],
  ['replaced where it soaked', { after: ['dev'], soakMinutes: 1 }, false, ['not_soaked']],
  ['all at once', { after: ['sit'], freezes: [freeze] }, true, ['frozen', 'not_deployed_before', 'not_approved']],
])('%s', (_, policy, lacksApproval, codes) => {
  const demands = {
    environmentName: 'prod',
    policy,
    deployed: new Map([
      ['uat', AT - 30 * 60_000],
      ['dev', null],
    ]),
  };
  const violations = violationsOf({ demands, deployedAt: AT, lacksApproval });
  expect(violations.map(({ code }) => code)).toEqual(codes);
  for (const { detail } of violations) expect(detail).toContain('prod');
});
