import { type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: 'acme/shop',
    platform: 'host-a',
    configuration: {
      domains: [
        { name: 'sales', packages: ['sales-ui'] },
        { name: 'service', packages: ['service-ui'] },
      ],
    },
  });
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const repositoryIdentifier = 'acme/shop';
/** Makes any flow type available. */
const pipeline = { id: 'run.yml' };
const codesOf = ({ warnings }: { warnings: { code: string; pointer: string }[] }) =>
  warnings.map(({ code, pointer }) => `${code} ${pointer}`);

test('approvers who do not exist or are too few, of environments, projects and runs', async () => {
  const approvalPolicy = { approvers: [app.owner.email, 'nobody@example.com', 'no-team'], minApprovals: 2 };
  const expected = (prefix: string) => [
    `unknown_approver #/${prefix}approvalPolicy/approvers/1`,
    `unknown_approver #/${prefix}approvalPolicy/approvers/2`,
    `too_few_approvers #/${prefix}approvalPolicy/minApprovals`,
  ];
  const made = await owner().post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'production',
    category: 'release',
    approvalPolicy,
  });
  expect(codesOf(made)).toEqual(expected(''));
  expect(codesOf(await app.as(app.member).get(200, `/api/environments/${made.id}`))).toEqual(expected(''));
  const mended = { approvers: [app.owner.email.toUpperCase(), app.member.email], minApprovals: 2 };
  expect(codesOf(await owner().patch(200, `/api/environments/${made.id}`, { approvalPolicy: mended }))).toEqual([]);
  const [listed] = await owner().get(200, '/api/environments?repositoryIdentifier=acme%2Fshop');
  expect(listed.warnings).toBeUndefined();

  const project = await owner().patch(200, '/api/projects/acme%2Fshop', { configuration: { approvalPolicy } });
  expect(codesOf(project)).toEqual(expected('configuration/'));
  await owner().patch(200, '/api/projects/acme%2Fshop', { configuration: { approvalPolicy: null } });

  // A run that could not be approved is refused.
  const givable = { approvers: [app.member.email, 'nobody@example.com', 'no-team'] };
  const unknown = expected('payload/').slice(0, 2);
  const payload = { id: 'build', pipeline, approvalPolicy: givable };
  const run = await owner().post(202, '/api/flows/run', { payload });
  expect(codesOf(run)).toEqual(unknown);
  expect(codesOf(await owner().get(200, `/api/flows/runs/${run.id}`))).toEqual(unknown);
  const schedule = await owner().post(201, '/api/flows/schedules', { name: 'nightly', cron: '0 3 * * *', payload });
  expect(codesOf(schedule)).toEqual(unknown);
});

test('an application token of some projects learns nothing of members', async () => {
  const { id } = await owner().post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'uat',
    category: 'release',
    approvalPolicy: { approvers: ['nobody@example.com'] },
  });
  const { token } = await owner().post(201, '/api/application-tokens', { name: 'limited', projects: ['acme/shop'] });
  expect(codesOf(await app.as({ token }).get(200, `/api/environments/${id}`))).toEqual([]);
});

test('packages of another domain, of candidates and runs', async () => {
  const candidate = await owner().post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'sales',
    releaseName: 'r1',
    commitSha: 'abcdef1',
    value: { artifacts: { 'sales-ui': '1.0.0', 'service-ui': '1.0.0', shared: '1.0.0' } },
  });
  const expected = [
    {
      code: 'package_of_other_domain',
      message: 'service-ui is a package of service, not of sales',
      pointer: '#/value/artifacts/service-ui',
    },
  ];
  expect(candidate.warnings).toEqual(expected);
  const { id } = candidate;
  const name = { repositoryIdentifier, domain: 'sales', releaseName: 'r1' };
  for (const reply of [
    await owner().get(200, `/api/release-candidates/${id}`),
    await owner().get(200, '/api/release-candidates/latest?repositoryIdentifier=acme%2Fshop&domain=sales'),
    await owner().post(200, '/api/release-candidates/find', name),
    await owner().patch(200, `/api/release-candidates/${id}/status`, { status: 'in_progress' }),
  ])
    expect(reply.warnings).toEqual(expected);
  const mended = await owner().patch(200, '/api/release-candidates/update-packages', {
    ...name,
    excludePackages: ['service-ui'],
  });
  expect(mended.warnings).toEqual([]);

  const payload = {
    id: 'install-packages',
    pipeline,
    repositoryIdentifier,
    domain: 'sales',
    orgUsername: 'a@b.example',
  };
  const run = await owner().post(202, '/api/flows/run', {
    payload: { ...payload, packages: { 'service-ui': '1.0.0' } },
  });
  expect(codesOf(run)).toEqual(['package_of_other_domain #/payload/packages/service-ui']);
});

test('events and paths of webhooks that do not exist', async () => {
  const webhook = await owner().post(201, '/api/webhooks', {
    name: 'board',
    events: ['release.publishd', 'release.created'],
    config: { url: 'http://127.0.0.1:9/', filter: { 'data.domain': 'sales' } },
  });
  expect(webhook.warnings).toEqual([
    {
      code: 'unknown_event',
      message: 'The service emits no event release.publishd; did you mean release.published?',
      pointer: '#/events/0',
    },
  ]);
  const path = `/api/webhooks/${webhook.id}`;
  const mended = await owner().patch(200, path, {
    event: 'release.published',
    config: { filter: { 'data.domian': 'sales' }, body: '{{ data.releaseName }} {{ dta.domain }}' },
  });
  expect(
    mended.warnings.map(({ pointer, message }: { pointer: string; message: string }) => `${pointer} ${message}`),
  ).toEqual([
    '#/config/filter/data.domian No event to which the webhook subscribes has data.domian; did you mean data.domain?',
    '#/config/body No event to which the webhook subscribes has dta.domain; did you mean data.domain?',
  ]);
  expect(codesOf(await owner().get(200, path))).toEqual(codesOf(mended));
  const push = await owner().post(201, '/api/webhooks', { repositoryIdentifier, webhookUrl: 'http://127.0.0.1:9/' });
  expect(push.warnings).toEqual([]);
});
