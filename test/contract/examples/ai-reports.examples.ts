import { featureExamples, fresh } from './example.ts';

const key = (repositoryIdentifier: string) => ({ repositoryIdentifier, scope: 'domain', scopeName: 'sales' });
const report = (repositoryIdentifier: string) => ({
  ...key(repositoryIdentifier),
  commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
  analyzedAt: '2026-03-02T09:30:00.000Z',
  status: 'completed',
  markdownReport: '# Sales\n\nThe trigger of the order is the riskiest part.\n',
  provider: 'openai',
  model: 'gpt-5.2',
  executionTimeMs: 48_210,
  taskExecutionId: 'pipeline-4711',
  usage: { input: 18_204, output: 1_977, reasoning: 640, cacheRead: 0, cacheWrite: 0 },
});

export const aiReportsExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const reported = `acme/${fresh('reported')}`;
    await owner.post(201, '/api/projects', {
      identifier: reported,
      platform: 'host-a',
      configuration: { domains: ['sales', 'service'] },
    });
    await owner.post(204, '/api/ai-reports/results', report(reported));
    const generated = new URLSearchParams({ ...key(reported), scopeName: 'service', provider: 'local' });
    await owner.post(202, `/api/ai-reports/refresh?${generated}`);
    return { reported };
  },
  {
    publishAiReport: ({ reported }) => ({ body: report(reported) }),
    listAiReports: ({ reported }) => ({ query: { repositoryIdentifier: reported } }),
    getAiReportStatus: ({ reported }) => ({ query: key(reported) }),
    getLatestAiReport: ({ reported }) => ({ query: key(reported) }),
    refreshAiReport: ({ reported }) => ({ query: { ...key(reported), provider: 'local' } }),
    cancelAiReport: ({ reported }) => ({ query: { ...key(reported), scopeName: 'service' } }),
    listAiReportHistory: ({ reported }) => ({ query: { ...key(reported), limit: '5' } }),
  },
);
