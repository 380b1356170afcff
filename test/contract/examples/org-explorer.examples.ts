import { createHash } from 'node:crypto';
import { crmSimulator } from '../../simulators/crm-org/simulator.ts';
import { featureExamples, fresh } from './example.ts';

const classFile = {
  fileName: 'classes/OrderService.cls',
  fullName: 'OrderService',
  type: 'ApexClass',
  state: 'Created',
};
const fileContent = 'public class OrderService {}';
const component = { metadataType: 'ApexClass', memberName: 'OrderService' };
const INTERNAL = '/api/orgs/explorer/internal';
const sha256 = createHash('sha256').update(fileContent).digest('hex');

export const orgExplorerExamples = featureExamples(
  async (app) => {
    const crm = await crmSimulator([]);
    const [owner, worker] = [app.as(app.owner), app.as(app.application)];
    const explored = `acme/${fresh('explored')}`;
    await owner.post(201, '/api/projects', { identifier: explored, platform: 'host-a' });
    const orgs = [];
    for (const name of ['prod', 'uat'].map(fresh)) {
      const { username: orgUsername, authUrl: cliAuthUrl } = await crm.addOrg({ name, kind: 'production' });
      await owner.post(201, '/api/environments', {
        repositoryIdentifier: explored,
        name,
        category: 'test',
        orgUsername,
      });
      await owner.post(201, '/api/auth/crm/register', { cliAuthUrl });
      orgs.push(orgUsername);
    }
    await crm.close();
    const [exploredOrg = '', otherOrg = ''] = orgs;
    const sourceData = [{ ...classFile, fileContent }];
    const report = (path: string, body: object, orgUsername = exploredOrg) =>
      worker.post(204, `${INTERNAL}/${path}`, { orgUsername, ...body });
    const sync = { typesCount: 1, componentsCount: 1, filesRetrieved: 1, failedTypes: [], typeNames: ['ApexClass'] };
    const reportSync = (orgUsername?: string) =>
      report('metadata-sync', { ...sync, syncedAt: new Date().toISOString(), duration: 60_000 }, orgUsername);
    await report('components', { ...component, sourceData });
    await reportSync();
    await report('components', { ...component, sourceData: [{ ...classFile, fileContent: '// changed' }] });
    await report('components', { ...component, memberName: 'LegacyService', sourceData });
    await reportSync();
    await report('components', { ...component, sourceData }, otherOrg);
    await reportSync(otherOrg);
    const manifests = encodeURIComponent(`manifests/${explored}:main`);
    await owner.post(201, `/api/doc-store/collections/${manifests}/docs/core?store=packages`, {
      value: { payload: { Package: { types: [{ name: 'ApexClass', members: ['OrderService'] }] } } },
    });
    return { explored, exploredOrg, otherOrg };
  },
  {
    getOrgComponent: ({ explored: repositoryIdentifier, exploredOrg: orgUsername }) => ({
      query: { repositoryIdentifier, orgUsername, ...component },
    }),
    listOrgComponents: ({ exploredOrg: orgUsername }) => ({
      query: { orgUsername, metadataType: 'ApexClass', search: 'order' },
    }),
    getOrgMetadata: ({ explored: repositoryIdentifier, exploredOrg: orgUsername }) => ({
      query: { repositoryIdentifier, orgUsername },
    }),
    refreshOrgMetadata: ({ explored: repositoryIdentifier, exploredOrg: orgUsername }) => ({
      body: { repositoryIdentifier, orgUsername, metadataTypes: ['ApexClass'] },
    }),
    listOrgChanges: ({ exploredOrg: orgUsername }) => ({ query: { orgUsername, since: '2026-01-01T00:00:00Z' } }),
    compareOrgs: ({ exploredOrg: left, otherOrg: right }) => ({ query: { left, right } }),
    listUnpackagedComponents: ({ explored: repositoryIdentifier, exploredOrg: orgUsername }) => ({
      query: { repositoryIdentifier, branch: 'main', orgUsername },
    }),
    reportOrgComponent: ({ exploredOrg: orgUsername }) => ({
      body: { orgUsername, ...component, sourceData: [{ ...classFile, fileContent }] },
    }),
    reportOrgComponents: ({ exploredOrg: orgUsername }) => ({
      body: { orgUsername, components: [{ ...component, sourceData: [{ ...classFile, fileContent }] }] },
    }),
    reportOrgManifest: ({ exploredOrg: orgUsername }) => ({
      body: {
        orgUsername,
        components: [
          {
            ...component,
            sourceData: [{ ...classFile, state: 'Failed', fetchedAt: '2026-03-02T09:30:00.000Z' }],
          },
        ],
      },
    }),
    storeOrgContent: () => ({ params: { sha256 }, bytes: fileContent, strangersStatus: 200 }),
    reportOrgSync: ({ exploredOrg: orgUsername }) => ({
      body: {
        orgUsername,
        typeNames: ['ApexClass'],
        syncedAt: '2026-03-02T09:30:00.000Z',
        duration: 42_000,
        typesCount: 1,
        componentsCount: 1,
        filesRetrieved: 2,
        failedTypes: [],
      },
    }),
  },
);
