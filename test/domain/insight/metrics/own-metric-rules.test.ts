import { readEvent } from '../../../../domain/insight/metrics/event-rules.ts';
import { createSeriesReader } from '../../../../domain/insight/metrics/series-reader.ts';
import { AI_CALL_ENDED, isMeasured, ownMetricsOf } from '../../../../domain/insight/metrics/own-metric-rules.ts';
import { catalogEntries } from '../../../../domain/events/webhooks/event-catalog.ts';

const source = { read: createSeriesReader(), isService: true };
const AT = Date.parse('2026-03-02T09:31:00Z');

test('what the catalog shows of each measured event is an event for the ingest', () => {
  const measured = catalogEntries.filter(({ event }) => isMeasured({ event, data: {} }));
  const shown = measured.map(({ event, sample: { data } }) => {
    const metrics = ownMetricsOf({ event, data }, AT);
    for (const metric of metrics) expect(readEvent(metric, AT, source)).toHaveProperty('series');
    return [event, metrics.map(({ metric, type }) => `${metric} ${type}`)];
  });
  const flow = ['quayside.flow.duration timers'];
  expect(Object.fromEntries(shown)).toMatchObject({
    'deployment.completed': ['quayside.deployments count'],
    'deployment.failed': ['quayside.deployments count'],
    'flow.completed': flow,
    'flow.failed': flow,
    'flow.cancelled': flow,
    'code_analysis.completed': expect.arrayContaining([
      'quayside.analysis.issues guage',
      'quayside.analysis.errors guage',
      'quayside.analysis.warnings guage',
    ]) as string[],
  });
});

test('a deployment counts when it took place, with what it went to', () => {
  const data = {
    repositoryIdentifier: 'acme/shop',
    domain: 'sales',
    environmentName: 'uat',
    status: 'Failed',
    deployedAt: '2026-03-02T09:30:00Z',
  };
  expect(ownMetricsOf({ event: 'deployment.failed', data }, AT)).toEqual([
    {
      metric: 'quayside.deployments',
      type: 'count',
      timestamp: AT - 60_000,
      tags: { repository: 'acme/shop', domain: 'sales', environment: 'uat', status: 'Failed' },
    },
  ]);
});

test('new issues of an analysis are not measured when some of them may only look new', () => {
  const data = { repositoryIdentifier: 'acme/shop', branch: 'main', totalIssues: 3, newIssues: 2 };
  const measured = (isComplete: boolean) =>
    ownMetricsOf({ event: 'code_analysis.completed', data: { ...data, isComplete } }, AT).map(({ metric }) => metric);
  expect(measured(true)).toEqual(['quayside.analysis.issues', 'quayside.analysis.new_issues']);
  expect(measured(false)).toEqual(['quayside.analysis.issues']);
});

test('tokens and costs of a call of a model are measured as far as they are known', () => {
  const data = { repositoryIdentifier: 'acme/shop', provider: 'openai', model: 'm', input: 7, output: 3, cost: null };
  const measured = ownMetricsOf({ event: AI_CALL_ENDED, data }, AT);
  expect(measured.map(({ metric, value, tags }) => [metric, tags.kind, value])).toEqual([
    ['quayside.ai.tokens', 'input', 7],
    ['quayside.ai.tokens', 'output', 3],
  ]);
  for (const metric of measured) expect(readEvent(metric, AT, source)).toHaveProperty('series');
});

test('a run that never began has no duration, and what is not measured has nothing', () => {
  expect(ownMetricsOf({ event: 'flow.cancelled', data: { taskType: 'build', durationMs: null } }, AT)).toEqual([]);
  expect(ownMetricsOf({ event: 'project.updated', data: {} }, AT)).toEqual([]);
});

test('a tag is cut where it is too long, and stays text that can be stored', () => {
  const data = { repositoryIdentifier: 'acme/shop', branch: `${'x'.repeat(255)}\u{1F600}`, totalIssues: 1 };
  const [metric] = ownMetricsOf({ event: 'code_analysis.completed', data }, AT);
  expect(metric?.tags.branch).toBe(`${'x'.repeat(255)}\uFFFD`);
});
