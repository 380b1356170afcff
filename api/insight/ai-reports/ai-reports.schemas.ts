import { z } from 'zod';
import {
  ANALYSIS_STATUSES,
  ENDED_STATUSES,
  REPORT_SCOPES,
  REPORTS_KEPT,
  WHOLE_REPOSITORY,
} from '../../../domain/insight/ai-reports/ai-report-rules.ts';
import { LOCAL } from '../../../domain/insight/ai-reports/generation.mutations.ts';
import { DateTime, Name, queryFlag, queryInt, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';

const INTEGER_MAX = 2_147_483_647;

const scope = {
  repositoryIdentifier: RepositoryIdentifier,
  scope: z.enum(REPORT_SCOPES),
  scopeName: Name.meta({
    description: `Name of the domain or package; \`${WHOLE_REPOSITORY}\` for the whole repository`,
    example: 'sales',
  }),
};
const branch = Name.optional().meta({ description: 'Default: the default branch of the project' });

const Tokens = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const Usage = z
  .strictObject({
    input: Tokens.default(0).meta({ description: 'Without what was read from the cache' }),
    output: Tokens.default(0).meta({ description: 'With what the model reasoned' }),
    reasoning: Tokens.default(0),
    cacheRead: Tokens.default(0),
    cacheWrite: Tokens.default(0),
  })
  .meta({ id: 'AiTokens', description: 'Tokens that the model took' });

export const PublishIn = z.strictObject({
  ...scope,
  branch,
  commitSha: z.string().regex(/^[0-9a-fA-F]{7,64}$/, 'must be 7 to 64 hexadecimal digits'),
  analyzedAt: DateTime.meta({ description: 'At most 10 minutes ahead' }),
  status: z.enum(ENDED_STATUSES),
  markdownReport: z.string().meta({
    description: 'At most 1 MB of UTF-8. It is given out as it is, and never rendered by the service',
  }),
  provider: Name.optional(),
  model: Name.optional(),
  executionTimeMs: z.int().min(0).max(INTEGER_MAX).optional(),
  taskExecutionId: Name.optional().meta({ description: 'Run that made the report' }),
  usage: Usage.optional(),
});

export const ReportsQuery = z.strictObject({ repositoryIdentifier: RepositoryIdentifier });
export const ReportQuery = z.strictObject({ ...scope, branch });
export const HistoryQuery = z.strictObject({ ...scope, branch, limit: queryInt(1, 100, 10) });

const summary = {
  reportId: z.string(),
  repositoryIdentifier: z.string(),
  branch: z.string(),
  scope: z.enum(REPORT_SCOPES),
  scopeName: z.string(),
  status: z.enum(ENDED_STATUSES),
  commitSha: z.string().nullable(),
  analyzedAt: Timestamp,
  provider: z.string().nullable(),
  model: z.string().nullable(),
  executionTimeMs: z.int().nullable(),
  taskExecutionId: z.string().nullable(),
  usage: Usage.nullable(),
  cost: z.number().nullable().meta({ description: 'USD; null: not known' }),
  error: z.string().nullable(),
  requestedBy: z.string(),
  createdAt: Timestamp,
};

export const ReportOut = z.object(summary).meta({ id: 'AiReportSummary' });
export const FullReportOut = z
  .object({ ...summary, markdownReport: z.string() })
  .meta({ id: 'AiReport', description: `The newest ${REPORTS_KEPT} of each key are kept` });

export const StatusOut = z
  .object({
    status: z.enum(ANALYSIS_STATUSES),
    taskExecutionId: z.string().nullable(),
    reportId: z.string().nullable(),
    error: z.string().nullable(),
    updatedAt: Timestamp.nullable(),
  })
  .meta({ id: 'AiReportStatus' });

export const RefreshQuery = z.strictObject({
  ...scope,
  branch,
  provider: Name.optional().meta({
    description: `\`${LOCAL}\`: facts alone, without any model. Default: that of the integration`,
  }),
  model: Name.optional().meta({ description: "One of the integration's models; default: its first" }),
  force: queryFlag(false),
});

export const RefreshOut = z
  .object({
    taskExecutionId: z.string().meta({ description: 'Id of the report, too' }),
    status: z.enum(['generating', 'completed']),
    cached: z.boolean().meta({ description: 'The report of the same facts, prompt and model that there is' }),
  })
  .meta({ id: 'AiReportRefresh' });

export const CancelOut = z
  .object({
    taskExecutionId: z.string().meta({ description: 'Id of the report, too' }),
    status: z.enum(['generating', 'failed']).meta({ description: '`generating` until the workflow has ended' }),
  })
  .meta({ id: 'AiReportCancellation' });
