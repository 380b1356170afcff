import { featureExamples, fresh } from './example.ts';

const STEPS = [
  {
    request: { method: 'GET', path: '/services/data/v64.0/limits' },
    response: { body: { DailyApiRequests: { Max: 100_000, Remaining: 81_750 } } },
  },
];

export const mocksExamples = featureExamples(
  async (app) => {
    const workspace = fresh('checkout');
    const scenario = fresh('release');
    const owner = app.as(app.owner);
    await owner.post(201, `/api/mocks/workspaces/${workspace}/scenarios`, { name: scenario, steps: STEPS });
    await owner.post(200, `/api/mocks/workspaces/${workspace}/scenarios/${scenario}/arm`);
    const draft = fresh('draft');
    const drafts = fresh('drafts');
    await owner.post(201, `/api/mocks/workspaces/${drafts}/scenarios`, {
      name: draft,
      upstream: 'https://api.example.com',
      record: false,
      steps: STEPS,
    });
    return { workspace, scenario, drafts, draft };
  },
  {
    createMockScenario: () => ({
      params: { workspace: fresh('pipeline') },
      body: { name: fresh('rehearsal'), description: 'What the org answers', steps: STEPS },
      // Names of workspaces are for every tenant to choose.
      strangersStatus: 201,
    }),
    listMockWorkspaces: () => ({}),
    listMockScenarios: ({ workspace }) => ({ params: { workspace }, strangersStatus: 200 }),
    getMockScenario: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    deleteMockScenario: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    stopMockScenario: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    saveMockStep: ({ workspace, scenario: name }) => ({
      params: { workspace, name, seq: '2' },
      body: { request: { method: 'POST', path: '/**' }, response: { status: 503, delayMs: { min: 100, max: 900 } } },
    }),
    armMockScenario: ({ workspace, scenario: name }) => ({ params: { workspace, name }, body: { minutes: 60 } }),
    disarmMockScenario: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    rewindMockScenario: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    importMockScenario: () => ({
      params: { workspace: fresh('pipeline') },
      body: {
        name: fresh('imported'),
        format: 'wiremock',
        content: JSON.stringify({
          mappings: [
            { request: { method: 'GET', url: '/orders' }, response: { jsonBody: [] } },
            { request: { method: 'GET', url: '/logo' }, response: { bodyFileName: 'logo.png' } },
          ],
        }),
      },
      strangersStatus: 201,
    }),
    exportMockScenario: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    recordMockScenario: ({ drafts: workspace, draft: name }) => ({ params: { workspace, name } }),
    listMockCalls: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    verifyMockCalls: ({ workspace, scenario: name }) => ({
      params: { workspace, name },
      body: { expect: [{ match: { method: 'POST', path: '/services/**' }, times: 1 }] },
    }),
    getMockReport: ({ workspace, scenario: name }) => ({ params: { workspace, name } }),
    checkMockDrift: ({ drafts: workspace, draft: name }) => ({ params: { workspace, name } }),
    rotateMockKey: ({ workspace }) => ({ params: { workspace } }),
  },
);
