import type { OrgOptions, SimulatedOrg } from '../../simulators/crm-org/org.ts';
import { type CrmSimulator, crmSimulator } from '../../simulators/crm-org/simulator.ts';
import type { TestApp } from '../../support/app.ts';
import { featureExamples, fresh } from './example.ts';

const simulators = new WeakMap<TestApp, Promise<CrmSimulator>>();

/** The platform of an app's examples, for as long as the app lives. */
function platformOf(app: TestApp): Promise<CrmSimulator> {
  const known = simulators.get(app) ?? crmSimulator([]);
  if (!simulators.has(app)) app.server.once('close', () => void known.then((crm) => crm.close()));
  simulators.set(app, known);
  return known;
}

/** One more org of the platform of an app's examples. */
export const addSimulatedOrg = async (app: TestApp, options: OrgOptions): Promise<SimulatedOrg> =>
  (await platformOf(app)).addOrg(options);

/** A production org with a sandbox and a scratch org, and two others. */
async function simulatedOrgs(app: TestApp) {
  const crm = await platformOf(app);
  const [name, other, leaving] = ['acme', 'globex', 'leaving'].map(fresh) as [string, string, string];
  const scratch = fresh('scratch');
  return {
    hub: await crm.addOrg({ name, kind: 'production', isDevHub: true }),
    sandbox: await crm.addOrg({ name: `${name}-uat`, kind: 'sandbox', parent: name, sandboxName: 'uat' }),
    scratch: await crm.addOrg({ name: scratch, kind: 'scratch', parent: name, username: `dana@${scratch}.example` }),
    other: await crm.addOrg({ name: other, kind: 'production' }),
    leaving: await crm.addOrg({ name: leaving, kind: 'production' }),
  };
}

export const crmOrgsExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const owner = app.as(app.owner);
    const orgs = await simulatedOrgs(app);
    for (const { username } of Object.values(orgs)) {
      const name = fresh('org');
      await owner.post(201, '/api/environments', {
        repositoryIdentifier,
        name,
        category: 'test',
        orgUsername: username,
      });
    }
    for (const { authUrl: cliAuthUrl, isDevHub } of [orgs.hub, orgs.leaving])
      await owner.post(201, '/api/auth/crm/register', { cliAuthUrl, isDevHub, isDefault: isDevHub });
    return {
      hubUsername: orgs.hub.username,
      scratchUsername: orgs.scratch.username,
      leavingUsername: orgs.leaving.username,
      cliAuthUrl: orgs.other.authUrl,
    };
  },
  {
    registerOrg: ({ cliAuthUrl }) => ({ body: { cliAuthUrl, metadata: { team: 'core' } } }),
    registerSandbox: ({ hubUsername }) => ({ body: { sandboxName: 'uat', productionUsername: hubUsername } }),
    listOrgs: () => ({ query: { type: 'production' } }),
    getOrg: ({ hubUsername: username }) => ({ query: { username, authType: 'accessToken' } }),
    updateOrg: ({ hubUsername: username }) => ({ query: { username }, body: { metadata: { alias: 'prod' } } }),
    setOrgMaintenance: ({ hubUsername: username }) => ({
      query: { username },
      body: {
        entries: [{ from: '2036-12-05T22:00:00Z', to: '2036-12-06T02:00:00Z', summary: 'Major release' }],
        icsUrl: 'https://calendar.acme.example/maintenance.ics',
      },
    }),
    getOrgMaintenance: ({ hubUsername: username }) => ({ query: { username } }),
    deleteOrg: ({ leavingUsername: username }) => ({ query: { username } }),
    testOrgConnection: ({ hubUsername: username }) => ({ query: { username } }),
    getDefaultDevHub: () => ({ query: { authType: 'cliAuthUrl' } }),
    createDevHubToken: () => ({}),
    createOrgToken: ({ hubUsername: username }) => ({ query: { username } }),
    openFrontDoor: ({ hubUsername: prodOrg }) => ({ query: { target: 'uat', prodOrg } }),
    authenticateSandbox: ({ hubUsername: productionUsername }) => ({
      body: { sandboxName: 'uat', productionUsername },
    }),
    authenticateScratchOrg: ({ hubUsername: productionUsername, scratchUsername: scratchOrgUsername }) => ({
      body: { scratchOrgUsername, productionUsername },
    }),
    listOrgHealth: () => ({ query: { limit: '10' } }),
    listSandboxes: ({ hubUsername: productionUsername }) => ({ query: { productionUsername } }),
  },
);
