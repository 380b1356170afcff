import type { CrmFailure } from '../../../../domain/orgs/crm/crm-platform.port.ts';
import type { CrmSimulator } from '../../../simulators/crm-org/simulator.ts';
import {
  accessTo,
  type CountedAccess,
  crmPlatform,
  failureOf,
  IMPATIENT,
  simulatedPlatform,
  valueOf,
} from '../../../support/crm.ts';
import { eventually } from '../../../support/eventually.ts';

const given = simulatedPlatform();

function open(name: string) {
  const access = accessTo(given.platform, given.crm.org(name));
  return { org: given.platform.org(access), access, simulated: given.crm.org(name) };
}

const callsTo = (path: string) => given.crm.requests.filter((request) => request.path.includes(path)).length;

describe('An org', () => {
  test('says who it is', async () => {
    const { org, simulated } = open('acme');
    expect(valueOf(await org.identity())).toEqual({
      username: 'admin@acme.example',
      userId: simulated.userId,
      orgId: simulated.orgId,
      orgName: 'acme (simulated)',
      kind: 'production',
      organizationType: 'Enterprise Edition',
      edition: 'Enterprise Edition',
      instanceName: 'SIM1',
      namespacePrefix: null,
      expiresAt: null,
    });
    expect(valueOf(await open('acme-dev').org.identity())).toMatchObject({
      kind: 'sandbox',
      organizationType: 'Sandbox',
    });
    expect(valueOf(await open('scratch-1').org.identity())).toMatchObject({
      kind: 'scratch',
      organizationType: 'Scratch',
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('is called with its newest version up to the cap, asked for once', async () => {
    const { org, simulated } = open('acme');
    await Promise.all([org.limits(), org.limits()]);
    await org.limits();
    expect(given.crm.requests.filter(({ path }) => path === '/services/data')).toHaveLength(1);
    expect(callsTo('/v67.0/limits')).toBe(3);
    await given.reconnect({ apiVersionMax: '65.0' });
    expect(valueOf(await given.platform.apiVersion(simulated.url))).toBe('64.0');
    await given.reconnect({ apiVersionMax: '50.0' });
    expect(failureOf(await given.platform.apiVersion(simulated.url))).toMatchObject({
      kind: 'malformed',
      code: 'NO_VERSION',
    });
  });

  test('is a dev hub or not', async () => {
    expect(valueOf(await open('acme').org.isDevHub())).toBe(true);
    expect(valueOf(await open('globex').org.isDevHub())).toBe(false);
  });

  test('gives its limits, and its calls with each reply', async () => {
    const { org, access, simulated } = open('acme');
    simulated.limits.SingleEmail = { max: 10, used: 12 };
    const limits = valueOf(await org.limits());
    expect(limits).toContainEqual({ name: 'SingleEmail', max: 10, remaining: -2 });
    expect(access.usages).toEqual([{ used: 19, max: 100_000 }]);
  });

  test('gives rows page by page, up to a number', async () => {
    const { org, simulated } = open('acme');
    simulated.pageSize = 100;
    const rows = Array.from({ length: 250 }, (_, index) => ({ Id: `a${index}` }));
    simulated.tables.set('Thing__c', { fields: ['Id'], rows: () => rows });
    const all = valueOf(await org.query('SELECT Id FROM Thing__c'));
    expect(all).toMatchObject({ totalSize: 250, isComplete: true });
    expect(all.rows).toEqual(rows);
    const some = valueOf(await org.query('SELECT Id FROM Thing__c', { maxRows: 150 }));
    expect(some).toMatchObject({ totalSize: 250, isComplete: false });
    expect(some.rows).toHaveLength(150);
    expect(failureOf(await org.query('SELECT Nope FROM Thing__c'))).toMatchObject({
      kind: 'refused',
      code: 'INVALID_FIELD',
    });
  });

  test.each([
    ['of one row each', { records: [{ Id: 'a' }] }, 'NEXT_PAGE', 11],
    ['of which one is empty', { records: [] }, 'NEXT_PAGE', 1],
    ['of which one is huge', { records: Array.from({ length: 10_001 }, () => ({})) }, 'UNEXPECTED', 1],
    ['of what is no row', { records: [[]] }, 'UNEXPECTED', 1],
    ['of megabytes', { records: [{ Id: 'a'.repeat(6 * 1_048_576) }] }, 'TOO_LARGE', 3],
    ['elsewhere', { records: [{ Id: 'a' }], nextRecordsUrl: 'https://elsewhere.example/query/01g' }, 'NEXT_PAGE', 1],
    ['at another resource', { records: [{ Id: 'a' }], nextRecordsUrl: '/services/data/v67.0/limits' }, 'NEXT_PAGE', 1],
  ])('is not followed through pages without end: %s', async (_, page, code, calls) => {
    const { org, simulated } = open('acme');
    const body = { totalSize: 9, done: false, nextRecordsUrl: '/services/data/v67.0/query/01g-1', ...page };
    simulated.fail({ kind: 'reply', status: 200, body }, { times: 10_000, path: /query/ });
    expect(failureOf(await org.query('SELECT Id FROM User', { maxRows: 1_000 }))).toMatchObject({
      kind: 'malformed',
      code,
    });
    expect(callsTo('/query')).toBe(calls);
  });

  test('that is slow with each page has the time of one call for those behind the first', async () => {
    const simulated = given.crm.org('acme');
    const { org } = await given.openedWith({ ...IMPATIENT, callMs: 400 }, simulated);
    const body = {
      totalSize: 9,
      done: false,
      nextRecordsUrl: '/services/data/v67.0/query/01g-1',
      records: [{ Id: 'a' }],
    };
    simulated.fail({ kind: 'reply', status: 200, body }, { times: 10_000, path: /query/ });
    simulated.latencyMs = 150;
    expect(failureOf(await org.query('SELECT Id FROM User')).kind).toBe('timeout');
    expect(callsTo('/query')).toBeLessThan(5);
  });

  test('is asked for no more rows than one answer needs', async () => {
    const { org, simulated } = open('acme');
    const body = { totalSize: 9, done: false, nextRecordsUrl: '/services/data/v67.0/query/01g-1' };
    const organization = {
      Id: simulated.orgId,
      Name: 'acme',
      OrganizationType: 'Enterprise Edition',
      IsSandbox: false,
    };
    const answer = (records: object[]) =>
      simulated.fail({ kind: 'reply', status: 200, body: { ...body, records } }, { times: 50, path: /query/ });
    answer([organization]);
    expect(valueOf(await org.identity()).orgName).toBe('acme');
    expect(callsTo('/query')).toBe(1);
    expect(valueOf(await org.isDevHub())).toBe(true);
    expect(callsTo('/query')).toBe(2);
    simulated.heal();
    answer([{ Id: 'a', SignupUsername: 'x', Status: 'New', CreatedDate: '2026-01-01T00:00:00.000+0000' }]);
    expect(failureOf(await org.findScratchOrg('x')).code).toBe('NEXT_PAGE');
    expect(callsTo('/query')).toBe(4);
  });

  test('opens a front door on its own address only', async () => {
    const { org, simulated } = open('acme');
    const door = valueOf(await org.frontDoor('/lightning/setup/SetupOneHome/home?x=1'));
    expect(door.form).toBe('singleaccess');
    expect(await (await fetch(door.url)).text()).toContain('/lightning/setup/SetupOneHome/home?x=1');
    expect(await (await fetch(door.url)).text()).toContain('Login');
    for (const path of [
      '//evil.example',
      '/\\evil.example',
      '\\evil',
      'javascript:alert(1)',
      'https://evil.example',
      '',
      '/a\nb',
    ])
      expect(failureOf(await org.frontDoor(path))).toMatchObject({ kind: 'refused', code: 'INVALID_PATH' });
    for (const url of [
      'https://evil.example',
      'javascript:alert(1)//',
      `${simulated.url}.evil.example`,
      `${simulated.url}@evil.example`,
    ]) {
      simulated.frontDoorUrl = url;
      expect(failureOf(await org.frontDoor())).toMatchObject({ kind: 'malformed', code: 'FRONT_DOOR_ELSEWHERE' });
    }
  });

  test('of an old release opens a front door by its session', async () => {
    const { org, simulated } = open('acme');
    simulated.hasFrontDoors = false;
    const door = valueOf(await org.frontDoor('/setup'));
    expect(door.form).toBe('sid');
    expect(await (await fetch(door.url)).text()).toContain('at /setup');
  });

  test('whose session ended answers front doors and user info with 403: one renewal each', async () => {
    const { org, access, simulated } = open('acme');
    await org.limits();
    simulated.endSessions();
    expect((await org.frontDoor()).isOk).toBe(true);
    expect(access.minted).toBe(2);
    simulated.endSessions();
    expect((await org.identity()).isOk).toBe(true);
    expect(access.minted).toBe(3);
  });

  test('that opens no front door to this app says so, and a redirect is none', async () => {
    const { org, access, simulated } = open('acme');
    simulated.fail('forbidden', { times: 2, path: /singleaccess/ });
    expect(failureOf(await org.frontDoor())).toMatchObject({
      kind: 'refused',
      code: 'HTTP_403',
      hint: expect.stringContaining('scope'),
    });
    expect(access.minted).toBe(2);
    simulated.fail('redirect', { path: /singleaccess/ });
    expect(failureOf(await org.frontDoor())).toMatchObject({ kind: 'refused', code: 'HTTP_302' });
    expect(access.minted).toBe(2);
  });

  test('shows its sandboxes', async () => {
    const { org, simulated } = open('acme');
    expect(valueOf(await org.sandboxes()).map(({ name, state, copyProgress }) => [name, state, copyProgress])).toEqual([
      ['copying', 'copying', 43],
      ['dev', 'ready', 100],
      ['uat', 'ready', 100],
    ]);
    const before = valueOf(await org.findSandbox('DEV'));
    given.crm.org('acme-dev').refresh();
    const after = valueOf(await org.findSandbox('dev'));
    expect(after?.orgId).not.toBe(before?.orgId);
    simulated.sandboxes.push({
      ...(simulated.sandboxes[0] as never as object),
      name: 'gone',
      status: 'Deleted',
    } as never);
    expect(valueOf(await org.findSandbox('gone'))).toBeNull();
    expect(valueOf(await org.findSandbox("dev' OR Status = 'Completed"))).toBeNull();
    expect(valueOf(await org.sandboxInfos())).toContainEqual(
      expect.objectContaining({ name: 'uat', licenseType: 'DEVELOPER' }),
    );
    expect(failureOf(await org.sandboxAuth({ sandboxName: 'copying', clientId: 'PlatformCLI' }))).toMatchObject({
      kind: 'refused',
      code: 'INVALID_STATUS',
      hint: expect.stringContaining('not ready'),
    });
    expect(failureOf(await org.sandboxAuth({ sandboxName: 'none', clientId: 'PlatformCLI' })).kind).toBe('not_found');
  });

  test('as a dev hub finds scratch orgs with their auth URLs', async () => {
    const { org, simulated } = open('acme');
    const find = async (name: string) => valueOf(await org.findScratchOrg(name));
    const auths = ['scratch-1', 'scratch-2', 'scratch-3'].map(
      async (name) => (await find(given.crm.org(name).username))?.auth,
    );
    expect(await Promise.all(auths)).toEqual([
      { state: 'present', authUrl: given.crm.org('scratch-1').authUrl, field: 'SfdxAuthUrl__c' },
      { state: 'empty', field: 'SfdxAuthUrl__c' },
      { state: 'present', authUrl: expect.stringContaining('RevokedLongAgo'), field: 'SfdxAuthUrl__c' },
    ]);
    expect(await find("nobody@example.com' OR Status = 'Active")).toBeNull();
    expect(await find("back\\' OR Id != '")).toBeNull();
    const later = crmPlatform({ scratchAuthField: 'sfdxauthurl__C' });
    const { username } = given.crm.org('scratch-1');
    expect(valueOf(await later.org(accessTo(later, simulated)).findScratchOrg(username))?.auth).toMatchObject({
      state: 'present',
    });
    await later.close();
    simulated.authField = undefined;
    expect((await find(given.crm.org('scratch-1').username))?.auth).toEqual({
      state: 'no_field',
      field: 'SfdxAuthUrl__c',
    });
    expect(failureOf(await open('globex').org.findScratchOrg('x'))).toMatchObject({
      kind: 'refused',
      code: 'INVALID_TYPE',
    });
  });
});

describe('A session', () => {
  test('that ended is renewed once, and the call repeated', async () => {
    const { org, access, simulated } = open('acme');
    await org.limits();
    simulated.endSessions();
    expect((await org.limits()).isOk).toBe(true);
    expect(access.minted).toBe(2);
  });

  test.each<[string, (org: ReturnType<typeof open>['org']) => Promise<unknown>]>([
    ['REST', (org) => org.limits()],
    ['SOAP', (org) => org.describeMetadata()],
  ])('that is refused for ever is renewed once per call, by %s', async (_, call) => {
    const { org, access, simulated } = open('acme');
    simulated.fail('unauthorized', { times: Number.POSITIVE_INFINITY, path: /limits|Soap/ });
    expect(failureOf((await call(org)) as never)).toMatchObject({ kind: 'auth_failed', code: 'INVALID_SESSION_ID' });
    expect(access.minted).toBe(2);
    expect(callsTo('/limits') + callsTo('/Soap/')).toBe(2);
  });

  test('that cannot be renewed ends with the failure of the refresh', async () => {
    const { org, simulated } = open('acme');
    await org.limits();
    simulated.revokeApprovals();
    expect(failureOf(await org.limits())).toMatchObject({ kind: 'auth_failed', code: 'invalid_grant' });
  });

  test('of an expired org is not renewed', async () => {
    const { org, access, simulated } = open('scratch-1');
    simulated.fail('gone', { path: /limits/ });
    expect(failureOf(await org.limits())).toMatchObject({ kind: 'auth_failed', code: 'HTTP_420' });
    expect(access.minted).toBe(1);
  });

  test.each<[Parameters<ReturnType<CrmSimulator['org']>['fail']>[0], Partial<CrmFailure>]>([
    ['hang', { kind: 'timeout' }],
    ['drip', { kind: 'timeout' }],
    ['endless', { kind: 'malformed', code: 'TOO_LARGE' }],
    ['drop', { kind: 'unreachable' }],
    ['html', { kind: 'malformed', code: 'HTML' }],
    ['html-503', { kind: 'unreachable', code: 'HTTP_503' }],
    ['used-up', { kind: 'limited', code: 'REQUEST_LIMIT_EXCEEDED', hint: expect.stringContaining('API calls') }],
    ['redirect', { kind: 'refused', code: 'HTTP_302' }],
    ['error', { kind: 'unreachable', code: 'UNKNOWN_EXCEPTION' }],
  ])('in which the org answers with %s fails at once', async (fault, expected) => {
    const simulated = given.crm.org('acme');
    const isTimeout = expected.kind === 'timeout';
    const { org, access } = isTimeout ? await given.openedWith(IMPATIENT, simulated) : open('acme');
    simulated.fail(fault, { path: /limits/ });
    const failure = failureOf(await org.limits());
    expect(failure).toMatchObject({ ...expected, hint: expect.stringMatching(/\.$/) });
    expect(access.minted).toBe(1);
    expect(callsTo('/limits')).toBe(1);
    expect(given.crm.requests.some(({ org: name }) => name === 'elsewhere')).toBe(false);
    for (const secret of given.crm.secrets) expect(JSON.stringify(failure)).not.toContain(secret);
  });

  test('ends with its signal', async () => {
    const { access, simulated } = open('acme');
    simulated.fail('hang', { path: /limits/ });
    const stop = new AbortController();
    const limits = given.platform.org({ ...access, signal: stop.signal } satisfies CountedAccess).limits();
    await eventually(async () => callsTo('/limits'), Boolean);
    stop.abort(new Error('stopped'));
    await expect(limits).rejects.toThrow('stopped');
  });

  test('sends its token to the org alone', async () => {
    const { org, simulated } = open('acme');
    simulated.fail('redirect', { times: 9, path: /^\/services\/data\/v/ });
    await org.limits();
    await org.query('SELECT Id FROM User');
    expect(given.crm.requests.filter(({ org: name }) => name !== 'acme')).toEqual([]);
  });
});
