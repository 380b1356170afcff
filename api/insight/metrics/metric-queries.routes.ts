import { z } from 'zod';
import { REPLY_MAX_BYTES } from '../../../domain/insight/metrics/answer-rules.ts';
import {
  type CheckedQuery,
  checkInstantQuery,
  checkLabelName,
  checkLabels,
  checkRangeQuery,
  checkSeries,
  isTrouble,
  type QueryInput,
  type QueryTrouble,
} from '../../../domain/insight/metrics/query-rules.ts';
import type { StoreRead } from '../../../domain/insight/metrics/metrics-store.port.ts';
import { type AnyRoute, ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import type { Scope } from '../../http/scope.ts';
import {
  byLabel,
  InstantQuery,
  LabelQuery,
  PrometheusAnswer,
  PrometheusError,
  RangeQuery,
  ResultAnswer,
} from './metrics.schemas.ts';
import { prometheusReply, RESULT_ANSWER_MAX_BYTES, resultReply } from './prometheus-replies.ts';

const GROUP = 'Metrics';
const AUDIT = { none: 'it only reads' };
const AS_PROMETHEUS =
  "Answers, status codes and errors are those of Prometheus' HTTP API: a query that fails is answered `{status: error, errorType, error}` (`PrometheusError`); what is wrong with the credential, or comes too often, is a problem.";
const RESULT = 'Errors are problems.';
const QUERY =
  'MetricsQL, which knows PromQL, without `WITH` templates. At most 200 selectors, 10 functions that write labels, texts of 1 KB for functions, and labels of 4 KB; of a tenant three queries run at a time, and others wait. Counts and the series `_count` and `_sum` of timers are one sample for each five minutes: what happened in them; `sum_over_time(deploy.count[1d])` adds up a day. A bare number or text is answered as a vector, as the store does. Dots in names become underscores, but not in names of labels that are given as texts to `label_replace` and the like.';

type Query = CheckedQuery | QueryTrouble;

const ask = ({ adapters, actor, gone }: Scope, what: StoreRead, query: Query, maxBytes: number) =>
  adapters.metrics.ask(actor.tenantId, what, query, { signal: gone(), maxBytes });

const asPrometheusAnswers = async (scope: Scope, what: StoreRead, query: Query) =>
  prometheusReply(await ask(scope, what, query, REPLY_MAX_BYTES));

const withResultOnTop = async (scope: Scope, what: StoreRead, query: Query) =>
  resultReply(await ask(scope, what, query, RESULT_ANSWER_MAX_BYTES));

/** What is asked for the values of a label. */
function labelValues(name: string, query: object): [StoreRead, Query] {
  const label = checkLabelName(name);
  return isTrouble(label) ? ['labels', label] : [`label/${label.name}/values`, checkLabels(query as QueryInput)];
}

const common = { group: GROUP, roles: ANY_ROLE, projectScope: 'refused', status: 200, audit: AUDIT } as const;
const plain = { ...common, method: 'get', response: ResultAnswer, errors: ['unprocessable'] } as const;
const ownErrors = { statuses: [400, 404, 422, 503], body: PrometheusError };
/** Tools send parameters of newer versions, too, which Prometheus ignores. */
const anyQuery = z.looseObject({});
const asPrometheus = {
  ...common,
  query: anyQuery,
  response: PrometheusAnswer,
  errors: ['unprocessable'],
  ownErrors,
} as const;
const inForm = { ...asPrometheus, method: 'post', bodyType: 'form', takesRepeatedFields: true } as const;

const plainRoutes = [
  defineRoute({
    ...plain,
    operationId: 'queryMetrics',
    path: '/api/metrics/query',
    summary: 'Evaluate an expression at a moment',
    description: `${QUERY} ${RESULT}`,
    query: InstantQuery.strict(),
    handle: ({ query }, scope) =>
      withResultOnTop(scope, 'query', checkInstantQuery(query as QueryInput, scope.now().getTime())),
  }),
  defineRoute({
    ...plain,
    operationId: 'queryMetricsRange',
    path: '/api/metrics/query_range',
    summary: 'Evaluate an expression over a range of time',
    description: `${QUERY} At most 11,000 points. ${RESULT}`,
    query: RangeQuery.strict(),
    handle: ({ query }, scope) => withResultOnTop(scope, 'query_range', checkRangeQuery(query as QueryInput)),
  }),
  defineRoute({
    ...plain,
    operationId: 'listMetricLabelValues',
    path: '/api/metrics/label/{name}/values',
    summary: 'List the values of a label',
    description: `Values from all that is kept, unless \`start\` is given. \`__name__\` gives the names of metrics. ${RESULT}`,
    params: byLabel,
    query: LabelQuery.strict(),
    handle: ({ params, query }, scope) => withResultOnTop(scope, ...labelValues(params.name, query)),
  }),
];

const prometheusRoutes = [
  defineRoute({
    ...asPrometheus,
    method: 'get',
    operationId: 'prometheusQuery',
    path: '/api/metrics/api/v1/query',
    summary: 'Evaluate an expression at a moment, as Prometheus does',
    description: `${QUERY} ${AS_PROMETHEUS}`,
    query: InstantQuery,
    handle: ({ query }, scope) =>
      asPrometheusAnswers(scope, 'query', checkInstantQuery(query as QueryInput, scope.now().getTime())),
  }),
  defineRoute({
    ...inForm,
    operationId: 'prometheusQueryByForm',
    path: '/api/metrics/api/v1/query',
    summary: 'Evaluate an expression of a form at a moment, as Prometheus does',
    description: AS_PROMETHEUS,
    body: InstantQuery,
    handle: ({ body }, scope) =>
      asPrometheusAnswers(scope, 'query', checkInstantQuery(body as QueryInput, scope.now().getTime())),
  }),
  defineRoute({
    ...asPrometheus,
    method: 'get',
    operationId: 'prometheusQueryRange',
    path: '/api/metrics/api/v1/query_range',
    summary: 'Evaluate an expression over a range of time, as Prometheus does',
    description: `${QUERY} ${AS_PROMETHEUS}`,
    query: RangeQuery,
    handle: ({ query }, scope) => asPrometheusAnswers(scope, 'query_range', checkRangeQuery(query as QueryInput)),
  }),
  defineRoute({
    ...inForm,
    operationId: 'prometheusQueryRangeByForm',
    path: '/api/metrics/api/v1/query_range',
    summary: 'Evaluate an expression of a form over a range of time, as Prometheus does',
    description: AS_PROMETHEUS,
    body: RangeQuery,
    handle: ({ body }, scope) => asPrometheusAnswers(scope, 'query_range', checkRangeQuery(body as QueryInput)),
  }),
  defineRoute({
    ...asPrometheus,
    method: 'get',
    operationId: 'prometheusLabelValues',
    path: '/api/metrics/api/v1/label/{name}/values',
    summary: 'List the values of a label, as Prometheus does',
    description: `Series from all that is kept, unless \`start\` is given. ${AS_PROMETHEUS}`,
    params: byLabel,
    query: LabelQuery,
    handle: ({ params, query }, scope) => asPrometheusAnswers(scope, ...labelValues(params.name, query)),
  }),
];

/** `labels` and `series`, both by query and by form, as Grafana asks for them. */
const lists = [
  { what: 'labels', name: 'Labels', summary: 'List the names of labels', check: checkLabels },
  { what: 'series', name: 'Series', summary: 'List series', check: checkSeries },
] as const;

const listRoutes: AnyRoute[] = lists.flatMap(({ what, name, summary, check }) => [
  defineRoute({
    ...asPrometheus,
    method: 'get',
    operationId: `prometheus${name}`,
    path: `/api/metrics/api/v1/${what}`,
    summary: `${summary}, as Prometheus does`,
    description: AS_PROMETHEUS,
    query: LabelQuery,
    handle: ({ query }, scope) => asPrometheusAnswers(scope, what, check(query as QueryInput)),
  }),
  defineRoute({
    ...inForm,
    operationId: `prometheus${name}ByForm`,
    path: `/api/metrics/api/v1/${what}`,
    summary: `${summary} that a form selects, as Prometheus does`,
    description: AS_PROMETHEUS,
    body: LabelQuery,
    handle: ({ body }, scope) => asPrometheusAnswers(scope, what, check(body as QueryInput)),
  }),
]);

const aboutRoutes = [
  defineRoute({
    ...asPrometheus,
    method: 'get',
    operationId: 'prometheusMetadata',
    path: '/api/metrics/api/v1/metadata',
    summary: 'List what is known about metrics, as Prometheus does',
    description: 'Nothing: events carry no descriptions. For tools that ask.',
    handle: () => Promise.resolve({ status: 'success' as const, data: {} }),
  }),
  defineRoute({
    ...asPrometheus,
    method: 'get',
    operationId: 'prometheusBuildInfo',
    path: '/api/metrics/api/v1/status/buildinfo',
    summary: 'Show which Prometheus this compares with',
    description: 'For tools that choose what they ask by the version.',
    handle: () => Promise.resolve({ status: 'success' as const, data: { version: PROMETHEUS_VERSION } }),
  }),
];

/** Version of Prometheus whose interface is offered; the store itself names it. */
const PROMETHEUS_VERSION = '2.24.0';

export const metricQueriesRoutes = [...plainRoutes, ...prometheusRoutes, ...listRoutes, ...aboutRoutes];
