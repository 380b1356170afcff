import type { TestApp } from '../../support/app.ts';
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
const BASE = 'c'.repeat(40);

/** No worker runs beside the examples: what it would write. */
async function compared(app: TestApp, repositoryIdentifier: string): Promise<void> {
  await app.sql(
    `update code_analysis a set indexed_at = now(), compared_at = now(), fixed_issues = 0,
       new_issues = (summary ->> 'totalIssues')::int, gate = '{"status": "none", "reasons": []}'
     from project p where p.id = a.project_id and p.identifier = ?`,
    [repositoryIdentifier],
  );
  await app.sql(
    `insert into code_analysis_result (tenant_id, analysis_id, project_id, fingerprint, ordinal, position, tool, rule_id,
       level, path, start_line, message)
     select a.tenant_id, a.id, a.project_id, 'f', 0, 1, 'eslint', 'no-unused-vars', 'error', 'src/order.js', 12,
       'total is never used'
     from code_analysis a join project p on p.id = a.project_id
     where p.identifier = ? and a.new_issues = 1`,
    [repositoryIdentifier],
  );
}

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
    await owner.post(201, `${PATH}/results`, {
      ...results,
      commitId: BASE,
      analyzedAt: '2026-03-01T09:30:00.000Z',
      sarif: { ...sarif, runs: sarif.runs.map((run) => ({ ...run, results: [] })) },
    });
    await compared(app, analyzed);
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
    getCodeAnalysis: ({ analyzed }) => ({
      query: { repositoryIdentifier: analyzed, branch: 'main', commitId: 'd'.repeat(40) },
    }),
    compareCodeAnalyses: ({ analyzed }) => ({
      query: { repositoryIdentifier: analyzed, branch: 'main', base: BASE, head: 'a'.repeat(40) },
    }),
    getCodeAnalysisSarif: ({ analysisId }) => ({ params: { id: analysisId } }),
  },
);
