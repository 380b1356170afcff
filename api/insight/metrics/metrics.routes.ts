import { callsSince } from '../../../domain/insight/language-models/ai-calls.queries.ts';
import { aiUsageOf, measuresOfCalls } from '../../../domain/insight/metrics/ai-usage-rules.ts';
import { aiUsageSince } from '../../../domain/insight/metrics/windows.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { AiUsageQuery, AiUsageReply, EVENTS_MAX, IngestReply, MetricEvents } from './metrics.schemas.ts';

const GROUP = 'Metrics';
const DAY_MS = 86_400_000;
/** An event may have 20 tags beside its five members. */
const MEMBERS_OF_EVENT = 30;

export const metricsRoutes = [
  defineRoute({
    operationId: 'ingestMetrics',
    method: 'post',
    path: '/api/metrics/ingest',
    group: GROUP,
    summary: 'Send metric events',
    description:
      'Only what application tokens send is processed; from a person it is accepted and ignored. Events are checked one by one. What happened to a series (name, type, tags) within five minutes is one sample: counts add up, of the others the latest stays. Events older than 48 hours or more than 10 minutes ahead are rejected, and those of new series past 50,000 in a day (`METRICS_SERIES_PER_DAY`). In names every character but letters, digits and `_` becomes `_`, in names of metrics but `:`, too; tags `metric_type` and `__*` are refused, as are names that begin with `quayside_`. Values are between -1e100 and 1e100. The samples can be queried after some seconds. A repeated request counts again, unless it has an `Idempotency-Key`. 503 while too many samples wait for the store.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    audit: { none: 'the volume is too high, and nothing of the tenant is changed' },
    body: MetricEvents,
    jsonMembersMax: EVENTS_MAX * MEMBERS_OF_EVENT,
    status: 202,
    response: IngestReply,
    async handle({ body: { events } }, { actor, tx, isKeyed, adapters: { metrics } }) {
      if (actor.type !== 'application')
        return { accepted: 0, rejected: 0, message: 'Only events of application tokens are processed', errors: [] };
      const { ingest, ingestOnce } = metrics.intake;
      const report = await (isKeyed ? ingestOnce(tx, events) : ingest(tx, actor.tenantId, events));
      if (report.accepted > 0) metrics.signalLane();
      const { accepted, rejected } = report;
      return { ...report, message: `${accepted} accepted${rejected > 0 ? `, ${rejected} rejected` : ''}` };
    },
  }),
  defineRoute({
    operationId: 'getAiUsage',
    method: 'get',
    path: '/api/metrics/ai-usage',
    group: GROUP,
    summary: 'Show how much AI was used in a repository',
    description:
      'For the last days (UTC), today included, at most 90. The calls for AI reports of the service are counted exactly: each is a prompt, an answered one a turn, and those of one report a session. Other tools report theirs as metric events with the tag `repository`: `ai.sessions`, `ai.prompts`, `ai.prompts_failed`, `ai.turns`, `ai.tokens` (tag `kind`: input, output, reasoning, cacheRead, cacheWrite), `ai.duration` (milliseconds), `ai.cost` (USD). Values are added up exactly, whatever their type; a `count` adds 1.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: AiUsageQuery,
    status: 200,
    response: AiUsageReply,
    async handle({ query: { repositoryIdentifier, windowDays } }, { reads, now }) {
      const { id } = await projectInRequest(reads, repositoryIdentifier);
      const firstDay = new Date(now().getTime() - (windowDays - 1) * DAY_MS).toISOString().slice(0, 10);
      const reported = await aiUsageSince(reads, id, firstDay);
      const calls = await callsSince(reads, id, firstDay);
      return { repositoryIdentifier, windowDays, ...aiUsageOf([...reported, ...measuresOfCalls(calls)]) };
    },
  }),
];
