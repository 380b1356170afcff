import type { CrmFailureKind } from '../../../../domain/orgs/crm/crm-platform.port.ts';
import { platformFailed, platformRefused } from '../../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import { healthAfter } from '../../../../domain/orgs/crm-orgs/org-health-rules.ts';
import { parseMetadataFilter } from '../../../../domain/orgs/crm-orgs/org-metadata-rules.ts';
import { answeringOrg } from '../../../../domain/projects/environments/org-name-rules.ts';
import { mayOpenFrontDoor } from '../../../../domain/orgs/crm-orgs/org-rules.ts';
import { DomainError } from '../../../../domain/kernel/shared/errors.ts';

const sandbox = (username: string, sandboxName: string | null, parentProductionUsername: string | null) => ({
  username,
  sandboxName,
  parentProductionUsername,
});

describe('which org answers a name', () => {
  const uats = [sandbox('a@x.uat', 'uat', 'a@x'), sandbox('b@y.uat', 'UAT', 'b@y')];

  test('a username comes before the names of sandboxes, without regard to case', () => {
    const named = sandbox('UAT', null, null);
    expect(answeringOrg([...uats, named], 'uat')).toBe(named);
    expect(answeringOrg(uats, 'A@X.UAT')).toBe(uats[0]);
  });

  test('a sandbox name of several production orgs is ambiguous, unless one of them is named', () => {
    expect(() => answeringOrg(uats, 'uat')).toThrow(
      expect.objectContaining({
        code: 'ambiguous',
        extras: {
          members: {
            candidates: [
              { username: 'a@x.uat', sandboxName: 'uat', productionUsername: 'a@x' },
              { username: 'b@y.uat', sandboxName: 'UAT', productionUsername: 'b@y' },
            ],
          },
        },
      }),
    );
    expect(answeringOrg(uats, 'uat', { parent: { username: 'B@Y' } })).toBe(uats[1]);
    expect(answeringOrg(uats, 'uat', { parent: { username: 'c@z' } })).toBeUndefined();
    expect(answeringOrg([], 'uat')).toBeUndefined();
  });
});

test('front doors of production orgs and dev hubs are for owners and applications', () => {
  const opened = (['owner', 'application', 'member'] as const).map((role) =>
    [
      { kind: 'production' as const, isDevHub: false },
      { kind: 'sandbox' as const, isDevHub: true },
      { kind: 'sandbox' as const, isDevHub: false },
      { kind: 'scratch' as const, isDevHub: false },
    ].map((org) => mayOpenFrontDoor(role, org)),
  );
  expect(opened).toEqual([
    [true, true, true, true],
    [true, true, true, true],
    [false, false, true, true],
  ]);
});

test.each<[kind: CrmFailureKind, health: string, failed: string, refused: string]>([
  ['auth_failed', 'auth_failed', 'upstream_error', 'invalid_request'],
  ['refused', 'unreachable', 'upstream_error', 'invalid_request'],
  ['not_found', 'unreachable', 'upstream_error', 'invalid_request'],
  ['limited', 'limited', 'upstream_error', 'upstream_error'],
  ['unreachable', 'unreachable', 'upstream_error', 'upstream_error'],
  ['malformed', 'unreachable', 'upstream_error', 'upstream_error'],
  ['timeout', 'unreachable', 'upstream_timeout', 'upstream_timeout'],
])('%s: the org is %s; a request gets %s, and %s for what it gave itself', (kind, health, failed, refused) => {
  const failure = { isOk: false as const, kind, code: 'CODE', message: 'No', hint: 'Do something.' };
  expect(healthAfter(failure)).toBe(health);
  const error = platformFailed('Org x', failure);
  expect(error).toBeInstanceOf(DomainError);
  expect([error.code, error.message]).toEqual([failed, 'Org x: No. Do something.']);
  expect(platformRefused('Org x', failure, 'cliAuthUrl').code).toBe(refused);
});

test.each<[text: string, pairs: Record<string, string> | undefined]>([
  ['a=1,b=2', { a: '1', b: '2' }],
  [' a = x=y , b=', { a: 'x=y', b: '' }],
  ['{"a":"1"}', { a: '1' }],
  ['{"a":1}', undefined],
  ['{"a"', undefined],
  ['a', undefined],
  ['=1', undefined],
  ['', undefined],
])('the filter %j', (text, pairs) => {
  expect(parseMetadataFilter(text)).toEqual(pairs);
});
