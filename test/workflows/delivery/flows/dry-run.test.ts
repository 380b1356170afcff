import fc from 'fast-check';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1', 'releases-v1'];
const HOUR_MS = 3_600_000;
const repositoryIdentifier = 'acme/dry';
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

let app: TestApp;
let worker: TestWorker;
const environments: Record<string, string> = {};
beforeAll(async () => {
  app = await testApp({ commands: ['execute-release', 'install-packages'] });
  worker = await startWorker(app, QUEUES);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [orchestrationOrder, name] of ['before', 'target'].entries()) {
    const environment = { repositoryIdentifier, name, category: 'release', orchestrationOrder };
    environments[name] = (await owner.post(201, '/api/environments', environment)).id;
  }
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

/** What a run meets. */
const situations = fc.record({
  type: fc.constantFrom('execute-release', 'execute-release', 'install-packages'),
  approval: fc.constantFrom(null, { approvers: ['OWNER'] }, { approvers: ['MEMBER'], expiresAfter: 'PT2H' }),
  freeze: fc.constantFrom(null, null, [-1, 3], [1, 2]),
  days: fc.constantFrom(null, null, 'never', 'always'),
  after: fc.boolean(),
  soakMinutes: fc.constantFrom(0, 60),
  deployedHoursAgo: fc.constantFrom(null, 0, 2),
  isLocked: fc.boolean(),
  hold: fc.constantFrom(null, null, {}, { until: 2 }),
  status: fc.constantFrom('pending', 'pending', 'pending', 'aborted'),
  more: fc.constantFrom({}, {}, { override: { reason: 'urgent' } }),
});
type Situation = typeof situations extends fc.Arbitrary<infer Value> ? Value : never;

const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** A window of a whole day: of all days, or of one that is neither yesterday, today nor tomorrow. */
const windowsOf = (days: Situation['days']) =>
  days === null
    ? []
    : [
        {
          days: days === 'always' ? WEEK : [WEEK[(new Date().getUTCDay() + 2) % 7]],
          from: '00:00',
          to: '00:00',
          timezone: 'UTC',
        },
      ];

let made = 0;
/** Brings a situation about, and answers the payload of the run. */
async function arrange(situation: Situation): Promise<{ payload: object; free: () => Promise<unknown> }> {
  const { type, approval, freeze, days, after, soakMinutes, deployedHoursAgo, isLocked, hold, status, more } =
    situation;
  const owner = app.as(app.owner);
  const people: Record<string, string> = { OWNER: app.owner.email, MEMBER: app.member.email };
  const approvalPolicy = approval
    ? { ...approval, approvers: approval.approvers.map((each) => people[each]) }
    : { skipApproval: true };
  const freezes = freeze ? [{ from: inHours(freeze[0] ?? 0), to: inHours(freeze[1] ?? 0), reason: 'year end' }] : [];
  const before = after ? { after: ['before'], soakMinutes } : {};
  await owner.patch(200, `/api/environments/${environments.target}`, {
    approvalPolicy,
    promotion: { ...before, freezes, windows: windowsOf(days) },
  });
  const releaseName = `r${++made}`;
  const value = { artifacts: { app: `1.0.0-${made}` } };
  const { id } = await cutRelease(app, repositoryIdentifier, releaseName, { value });
  if (deployedHoursAgo !== null) {
    const body = success(repositoryIdentifier, releaseName, 'before');
    // 202 where the worker is busy: it counts from when it is stored.
    const { status: reported } = await app
      .as(app.application)
      .send('POST', '/api/release-candidates/release-event', { body });
    expect([200, 202]).toContain(reported);
    await app.sql(
      `update release_deployment set deployed_at = deployed_at - ? * interval '1 hour',
        created_at = created_at - ? * interval '1 hour' where release_name = ?`,
      [deployedHoursAgo, deployedHoursAgo, releaseName],
    );
  }
  if (hold)
    await owner.post(200, `/api/release-candidates/${id}/hold`, {
      reason: 'price list',
      ...('until' in hold && { until: inHours(hold.until ?? 1) }),
    });
  if (status === 'aborted') await owner.patch(200, `/api/release-candidates/${id}/status`, { status });
  const locks = `/api/environments/${environments.target}/locks`;
  const ticket = isLocked ? await owner.post(201, locks, {}) : undefined;
  const environment = { repositoryIdentifier, environmentName: 'target', ...more };
  const release = { domain: 'core', releaseName };
  const packages = { packages: { app: '04t000000000001AAA' }, orgUsername: 'admin@acme.example' };
  return {
    payload: { id: type, ...environment, ...(type === 'execute-release' ? release : packages) },
    free: async () => ticket && owner.delete(204, `${locks}/${ticket.ticketId}`),
  };
}

/** Where a run stops first, by what its dry run said. */
function stopOf({ gates: { approval, after, soak, window, lock } }: Json): string {
  if (approval) return 'waiting_approval';
  if ((after && after.reason !== null) || (soak && soak.endsAt !== null) || (window && !window.isOpen))
    return 'waiting_window';
  return lock && lock.position > 0 ? 'waiting_lock' : 'succeeded';
}

test('what a dry run says is what the run does, whatever the policies, states and times', async () => {
  const owner = app.as(app.owner);
  await fc.assert(
    fc.asyncProperty(situations, async (situation) => {
      const { payload, free } = await arrange(situation);
      const dry = await owner.send('POST', '/api/flows/run?dryRun=true', { body: { payload } });
      const real = await owner.send('POST', '/api/flows/run', { body: { payload } });
      const said = dry.body;
      if (real.status >= 400) {
        if (real.status === 400) expect([dry.status, dry.body.errors]).toEqual([400, real.body.errors]);
        else expect([dry.status, said.wouldStart, said.refusal]).toEqual([200, false, refusalOf(real.body)]);
        await free();
        return;
      }
      expect([dry.status, said.wouldStart, said.refusal, real.status]).toEqual([200, true, null, 202]);
      const stop = stopOf(said);
      const path = `/api/flows/runs/${real.body.id}`;
      const run = await eventually(
        () => owner.get(200, path),
        ({ rawStatus }) => !['dispatched', 'running'].includes(rawStatus),
      );
      // A lock that is free, or frees itself, is passed on the way.
      const settled = ['waiting_lock', 'succeeded'].includes(stop)
        ? await eventually(
            () => owner.get(200, path),
            ({ rawStatus }) => rawStatus === stop,
          )
        : run;
      expect(settled.rawStatus).toBe(stop);
      if (stop === 'waiting_window') {
        const { after, soak, window } = said.gates;
        const isKnown = !after?.reason && !(soak?.endsAt && window.nextWindowAt);
        if (isKnown) expect(run.nextWindowAt).toBe(soak?.endsAt ?? window.nextWindowAt);
      }
      if (stop !== 'succeeded') await owner.post(200, `${path}/cancel`);
      await free();
      await eventually(
        () => owner.get(200, `/api/environments/${environments.target}`),
        ({ lockStatus }) => !lockStatus.isLocked && lockStatus.waiting === 0,
      );
    }),
    propertyRuns(14, 300),
  );
});

const refusalOf = ({ code, detail }: Json): object => ({ code, detail });
