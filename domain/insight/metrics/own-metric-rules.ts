import { AI_TOKEN_KINDS } from './ai-usage-rules.ts';

/** An event as clients send it, of what the service did itself. */
export interface OwnMetric {
  metric: string;
  type: 'count' | 'guage' | 'timers';
  value?: number;
  /** Epoch milliseconds. */
  timestamp: number;
  tags: Record<string, string>;
}

/** What happened in a transaction: an event that was announced, or something that is only measured. */
export interface Happening {
  event: string;
  data: unknown;
}

type Data = Readonly<Record<string, unknown>>;

const TAG_VALUE_MAX = 256;

const tagsOf = (data: Data, members: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([tag, member]) => {
      const value = data[member];
      return typeof value === 'string' && value !== '' ? [[tag, value.slice(0, TAG_VALUE_MAX).toWellFormed()]] : [];
    }),
  );

const momentOf = (value: unknown, otherwise: number): number => {
  const moment = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(moment) ? otherwise : moment;
};

const DEPLOYMENT_TAGS = { repository: 'repositoryIdentifier', domain: 'domain', environment: 'environmentName' };

function deployment(data: Data, at: number): OwnMetric[] {
  const timestamp = momentOf(data.deployedAt, at);
  return [
    {
      metric: 'quayside.deployments',
      type: 'count',
      timestamp,
      tags: tagsOf(data, { ...DEPLOYMENT_TAGS, status: 'status' }),
    },
  ];
}

/** Metrics of a run; one that never began has no duration. */
function flow(data: Data, at: number): OwnMetric[] {
  if (typeof data.durationMs !== 'number') return [];
  const tags = tagsOf(data, { repository: 'repositoryIdentifier', flow: 'taskType', status: 'status' });
  return [
    {
      metric: 'quayside.flow.duration',
      type: 'timers',
      value: Math.max(0, data.durationMs),
      timestamp: momentOf(data.endedAt, at),
      tags,
    },
  ];
}

const ANALYSIS_TOTALS = { issues: 'totalIssues', errors: 'errors', warnings: 'warnings', new_issues: 'newIssues' };

function analysis(data: Data, timestamp: number): OwnMetric[] {
  const tags = tagsOf(data, { repository: 'repositoryIdentifier', branch: 'branch' });
  return Object.entries(ANALYSIS_TOTALS).flatMap(([name, member]): OwnMetric[] => {
    // Issues that only look new are not measured.
    const value = member === 'newIssues' && data.isComplete === false ? undefined : data[member];
    return typeof value === 'number'
      ? [{ metric: `quayside.analysis.${name}`, type: 'guage', value, timestamp, tags }]
      : [];
  });
}

/** What is measured of a call of a language model; it is not announced. */
export const AI_CALL_ENDED = 'ai_call.ended';

const CALL_TAGS = { repository: 'repositoryIdentifier', provider: 'provider', model: 'model' };

/** Tokens and costs add up in the series `_sum`. */
function modelCall(data: Data, timestamp: number): OwnMetric[] {
  const tags = tagsOf(data, CALL_TAGS);
  const metric = (name: string, value: unknown, more: Record<string, string> = {}): OwnMetric[] =>
    typeof value === 'number'
      ? [{ metric: `quayside.ai.${name}`, type: 'timers', value, timestamp, tags: { ...tags, ...more } }]
      : [];
  const tokens = AI_TOKEN_KINDS.flatMap((kind) => metric('tokens', data[kind], { kind }));
  return [...tokens, ...metric('cost', data.cost), ...metric('call_duration', data.durationMs)];
}

const MEASURED: ReadonlyMap<string, (data: Data, at: number) => OwnMetric[]> = new Map([
  ['deployment.completed', deployment],
  ['deployment.failed', deployment],
  ['flow.completed', flow],
  ['flow.failed', flow],
  ['flow.cancelled', flow],
  ['code_analysis.completed', analysis],
  [AI_CALL_ENDED, modelCall],
]);

/** Whether anything is measured when this happens. */
export const isMeasured = ({ event }: Happening): boolean => MEASURED.has(event);

/** What is measured of what happened at a time (epoch milliseconds). */
export const ownMetricsOf = ({ event, data }: Happening, at: number): OwnMetric[] =>
  MEASURED.get(event)?.(data as Data, at) ?? [];

/** The id of a deployment that succeeded and is recorded. */
export function deploymentIn({ event, data }: Happening): string | undefined {
  const { id } = data as Data;
  return event === 'deployment.completed' && typeof id === 'string' ? id : undefined;
}

/** The time from the commit of a package's version to the deployment by which it came to an environment. */
export const leadTimeMetric = ({ data }: Happening, leadMs: number, at: number): OwnMetric => ({
  metric: 'quayside.deployment.lead_time',
  type: 'timers',
  value: leadMs,
  timestamp: momentOf((data as Data).deployedAt, at),
  tags: tagsOf(data as Data, DEPLOYMENT_TAGS),
});
