import { featureExamples, fresh } from './example.ts';

const dismissed = { packageName: 'sales-ui', componentType: 'ApexClass', fullName: 'OrderController' };
const component = { packageName: 'sales-ui', componentType: 'ApexClass', fullName: 'InvoiceController' };
const reason = 'an installed package still calls it';

export const gcLedgerExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const ledger = `acme/${fresh('ledger')}`;
    await owner.post(201, '/api/projects', { identifier: ledger, platform: 'host-a' });
    await owner.post(201, '/api/environments', {
      repositoryIdentifier: ledger,
      name: 'uat',
      category: 'test',
      orgUsername: 'uat@acme.example.com',
    });
    await owner.post(204, '/api/gc-ledger/events', {
      repositoryIdentifier: ledger,
      branch: 'main',
      events: [component, dismissed].map((each) => ({ type: 'detected', ...each })),
    });
    await owner.patch(204, '/api/gc-ledger/dismiss', { repositoryIdentifier: ledger, branch: 'main', ...dismissed });
    await owner.post(204, '/api/gc-ledger/org-check', {
      repositoryIdentifier: ledger,
      branch: 'main',
      environment: 'uat',
      results: [{ ...component, presence: 'present' }],
    });
    const { id: checkId } = await owner.post(202, '/api/gc-ledger/check', {
      repositoryIdentifier: ledger,
      branch: 'main',
    });
    await owner.post(201, '/api/environments', {
      repositoryIdentifier: ledger,
      name: 'next',
      category: 'test',
      branch: 'next',
      orgUsername: 'next@acme.example.com',
    });
    return { ledger, checkId };
  },
  {
    recordGcEvents: ({ ledger }) => ({
      body: { repositoryIdentifier: ledger, branch: 'main', events: [{ type: 'detected', ...component }] },
    }),
    listGcEntries: ({ ledger }) => ({
      query: { repositoryIdentifier: ledger, branch: 'main', status: 'detected,moved', package: 'sales-ui' },
    }),
    getGcDeletions: ({ ledger }) => ({ query: { repositoryIdentifier: ledger, branch: 'main', environment: 'uat' } }),
    startGcCheck: ({ ledger }) => ({ body: { repositoryIdentifier: ledger, branch: 'next' } }),
    getGcCheck: ({ checkId }) => ({ params: { id: checkId } }),
    dismissGcEntry: ({ ledger }) => ({ body: { repositoryIdentifier: ledger, branch: 'main', ...component, reason } }),
    reopenGcEntry: ({ ledger }) => ({ body: { repositoryIdentifier: ledger, branch: 'main', ...dismissed } }),
    recordGcOrgCheck: ({ ledger }) => ({
      body: {
        repositoryIdentifier: ledger,
        branch: 'main',
        environment: 'uat',
        results: [{ ...component, presence: 'present' }],
      },
    }),
  },
);
