import { accessTo, failureOf, simulatedPlatform, valueOf } from '../../../support/crm.ts';
import { OAUTH_REDIRECT_URI } from '../../../../domain/orgs/crm/auth-url-rules.ts';
import type { CrmOrg } from '../../../../domain/orgs/crm/crm-platform.port.ts';

const given = simulatedPlatform();
const opened = () => {
  const hub = given.crm.org('acme');
  return { hub, org: given.platform.org(accessTo(given.platform, hub)) };
};
const ORDER = { fields: { Edition: 'Developer', Features: 'A;B' }, description: 'run 7/1', durationDays: 3 };

async function activeSignup(org: CrmOrg, signupId: string) {
  for (;;) {
    const found = valueOf(await org.signup(signupId));
    if (found?.status !== 'New' && found?.status !== 'Creating') return found;
  }
}

test('a dev hub is asked for a scratch org, which is signed in to by its code, and deleted', async () => {
  const { hub, org } = opened();
  const active = hub.limits.ActiveScratchOrgs?.used ?? 0;
  const { signupId } = valueOf(await org.createSignup(ORDER));
  expect(hub.scratch.ledger).toEqual([
    {
      act: 'create',
      signupId,
      fields: {
        Edition: 'Developer',
        Features: 'A;B',
        Description: 'run 7/1',
        DurationDays: 3,
        ConnectedAppConsumerKey: 'PlatformCLI',
        ConnectedAppCallbackUrl: OAUTH_REDIRECT_URI,
      },
    },
  ]);
  expect(valueOf(await org.signup(signupId))).toMatchObject({ status: 'Creating', username: null, loginUrl: null });
  const signup = await activeSignup(org, signupId);
  const made = given.crm.orgs().find(({ username }) => username === signup?.username);
  expect(signup).toEqual({
    id: signupId,
    status: 'Active',
    errorCode: null,
    username: made?.username,
    loginUrl: made?.url,
    expirationDate: made?.expiresAt?.toISOString().slice(0, 10),
  });
  const code = valueOf(await org.signupCode(signupId)) ?? '';
  const grant = {
    clientId: 'PlatformCLI',
    clientSecret: '',
    loginUrl: made?.url ?? '',
    redirectUri: OAUTH_REDIRECT_URI,
  };
  const minted = valueOf(await given.platform.exchangeCode({ ...grant, code }));
  const calls = given.platform.org({ credential: async () => ({ isOk: true, value: minted }) });
  expect(valueOf(await calls.identity())).toMatchObject({ kind: 'scratch', username: made?.username });
  expect(failureOf(await given.platform.exchangeCode({ ...grant, code }))).toMatchObject({ code: 'invalid_grant' });
  expect(hub.limits.ActiveScratchOrgs?.used).toBe(active + 1);
  expect(valueOf(await org.deleteScratchOrg(signupId))).toBe(true);
  expect(valueOf(await org.deleteScratchOrg(signupId))).toBe(false);
  expect(hub.limits.ActiveScratchOrgs?.used).toBe(active);
  expect(valueOf(await org.signup(signupId))).toMatchObject({ status: 'Deleted' });
});

test('what was asked for is found again by its description, on which the platform takes no condition', async () => {
  const { hub, org } = opened();
  const since = new Date(Date.now() - 60_000).toISOString();
  const { userId } = valueOf(await org.identity());
  hub.fail('lost', { path: /ScratchOrgInfo$/ });
  expect(failureOf(await org.createSignup({ ...ORDER, description: 'run 8/1' }))).toMatchObject({
    kind: 'unreachable',
  });
  const found = valueOf(await org.signupsSince({ userId, since }));
  expect(found.filter(({ description }) => description === 'run 8/1')).toEqual([
    { id: hub.scratch.ledger.at(-1)?.signupId, description: 'run 8/1' },
  ]);
  expect(valueOf(await org.signupsSince({ userId: '005000000000001', since }))).toEqual([]);
  const soql = `SELECT Id FROM ScratchOrgInfo WHERE Description = 'run 8/1'`;
  expect(failureOf(await org.query(soql))).toMatchObject({ code: 'INVALID_FIELD' });
});

test('a signup fails with a code; a hub at its limit takes none, and failed ones count', async () => {
  const { hub, org } = opened();
  hub.scratch.failing.push('S-9999');
  const { signupId } = valueOf(await org.createSignup(ORDER));
  expect(await activeSignup(org, signupId)).toMatchObject({ status: 'Error', errorCode: 'S-9999', loginUrl: null });
  expect(valueOf(await org.signupCode(signupId))).toBeNull();
  hub.limits.DailyScratchOrgs = { max: 5, used: 5 };
  expect(failureOf(await org.createSignup(ORDER))).toMatchObject({
    kind: 'refused',
    code: 'LIMIT_EXCEEDED',
    message: expect.stringContaining('daily scratch org signup limit'),
  });
  expect(valueOf(await org.signup('2SR000000000001'))).toBeNull();
  const other = given.crm.org('globex');
  const plain = given.platform.org(accessTo(given.platform, other));
  expect(failureOf(await plain.createSignup(ORDER))).toMatchObject({ kind: 'not_found' });
});

test('an address that may not be called is none to sign in at', async () => {
  const { hub, org } = opened();
  hub.limits.DailyScratchOrgs = { max: 50, used: 5 };
  hub.scratch.onMade = (made) => Object.assign(made, { url: 'https://169.254.169.254' });
  const { signupId } = valueOf(await org.createSignup(ORDER));
  hub.scratch.onMade = () => undefined;
  for (let reads = 0; reads < 3; reads++) await org.signup(signupId);
  expect(failureOf(await org.signup(signupId))).toMatchObject({ kind: 'malformed', code: 'LOGIN_URL_REFUSED' });
});
