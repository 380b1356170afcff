import { fresh, featureExamples } from './example.ts';

const sarif = {
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: { name: 'eslint', semanticVersion: '9.2.0', rules: [{ id: 'no-unused-vars', name: 'No unused' }] },
      },
      results: [
        {
          ruleId: 'no-unused-vars',
          level: 'error',
          message: { text: 'total is never used' },
          locations: [{ physicalLocation: { artifactLocation: { uri: 'src/order.js' }, region: { startLine: 12 } } }],
        },
      ],
    },
  ],
};
const analyzedAt = '2026-03-02T09:30:00.000Z';
const PATH = '/api/testreports/code-analysis';

export const codeAnalysisExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const analyzed = `acme/${fresh('analyzed')}`;
    await owner.post(201, '/api/projects', { identifier: analyzed, platform: 'host-a' });
    const results = {
      repositoryIdentifier: analyzed,
      branch: 'main',
      commitId: 'a'.repeat(40),
      analyzedAt,
      duration: 8_200,
      sarif,
    };
    await owner.post(201, `${PATH}/results`, results);
    const [{ id: analysisId }] = await owner.get(200, `${PATH}/history/main?repositoryIdentifier=${analyzed}`);
    return { analyzed, analysisId };
  },
  {
    publishCodeAnalysis: ({ analyzed }) => ({
      body: {
        repositoryIdentifier: analyzed,
        branch: 'main',
        commitId: 'b'.repeat(40),
        analyzedAt,
        duration: 8_200,
        sarif,
      },
    }),
    listCodeAnalyses: ({ analyzed }) => ({ params: { branch: 'main' }, query: { repositoryIdentifier: analyzed } }),
    getCodeAnalysisDashboard: ({ analyzed }) => ({
      params: { branch: 'main' },
      query: { repositoryIdentifier: analyzed },
    }),
    refreshCodeAnalysis: ({ analyzed }) => ({ query: { repositoryIdentifier: analyzed, branch: 'main' } }),
    getCodeAnalysisSarif: ({ analysisId }) => ({ params: { id: analysisId } }),
  },
);
