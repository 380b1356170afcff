import { featureExamples } from './example.ts';

const query = 'sum(deploy.count)';
const range = { query, start: '2026-03-02T09:00:00Z', end: '2026-03-02T10:00:00Z', step: '5m' };
const selectors = { 'match[]': '{__name__=~"deploy_.*"}' };

export const metricsExamples = featureExamples(() => Promise.resolve({}), {
  ingestMetrics: ({ repositoryIdentifier }) => ({
    body: {
      events: [
        { metric: 'deploy.count', type: 'count', tags: { package: 'sales-core', org: 'uat' } },
        { metric: 'deploy.duration', type: 'timers', value: 182_000, tags: { pipeline: 'release' } },
        {
          metric: 'ai.tokens',
          type: 'guage',
          value: 1_250,
          tags: { repository: repositoryIdentifier, kind: 'output' },
        },
      ],
    },
  }),
  getAiUsage: ({ repositoryIdentifier }) => ({ query: { repositoryIdentifier } }),
  queryMetrics: () => ({ query: { query } }),
  queryMetricsRange: () => ({ query: range }),
  listMetricLabelValues: () => ({ params: { name: '__name__' }, strangersStatus: 200 }),
  prometheusQuery: () => ({ query: { query } }),
  prometheusQueryByForm: () => ({ form: { query } }),
  prometheusQueryRange: () => ({ query: range }),
  prometheusQueryRangeByForm: () => ({ form: range }),
  prometheusLabelValues: () => ({ params: { name: 'package' }, strangersStatus: 200 }),
  prometheusLabels: () => ({}),
  prometheusLabelsByForm: () => ({ form: selectors }),
  prometheusSeries: () => ({ query: selectors }),
  prometheusSeriesByForm: () => ({ form: selectors }),
  prometheusMetadata: () => ({}),
  prometheusBuildInfo: () => ({}),
});
