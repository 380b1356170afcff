import { Readable } from 'node:stream';
import { z } from 'zod';
import { LEVELS } from '../../../domain/insight/code-analysis/sarif/sarif-rules.ts';
import {
  DateTime,
  JsonObject,
  Name,
  queryFlag,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';

export const CommitId = z
  .string()
  .regex(/^[0-9a-fA-F]{7,64}$/, 'must be 7 to 64 hexadecimal digits')
  .transform((text) => text.toLowerCase())
  .meta({ description: 'An abbreviated one is completed where the repository is fetched and has one such commit' });

const ofRepository = z.strictObject({ repositoryIdentifier: RepositoryIdentifier });
export const DashboardQuery = ofRepository;
export const HistoryQuery = ofRepository.extend({ limit: queryInt(1, 100, 10) });
export const byBranch = z.object({ branch: Name });

/** The members around the log, which is read by itself. */
export const PublishIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  branch: Name,
  commitId: CommitId,
  analyzedAt: DateTime,
  duration: z.number().min(0).max(1e12).nullable().default(null),
  sarif: z.unknown(),
});

/** The body as it is sent; it is read while it arrives. */
export const PublishStream = z.instanceof(Readable).meta({
  override: {
    type: 'object',
    additionalProperties: false,
    required: ['repositoryIdentifier', 'branch', 'commitId', 'analyzedAt', 'sarif'],
    properties: {
      repositoryIdentifier: { type: 'string', maxLength: 255, example: 'acme/storefront' },
      branch: { type: 'string', maxLength: 255 },
      commitId: {
        type: 'string',
        pattern: '^[0-9a-fA-F]{7,64}$',
        description: 'An abbreviated one is completed where the repository is fetched and has one such commit',
      },
      analyzedAt: { type: 'string', format: 'date-time' },
      duration: { type: ['number', 'null'], minimum: 0, description: 'Milliseconds' },
      sarif: {
        anyOf: [
          { type: 'object', additionalProperties: true },
          { type: 'string', contentEncoding: 'base64' },
        ],
        description: 'A SARIF 2.1.0 log, or base64 of its gzip',
      },
    },
  },
});

export const PublishOut = z.object({
  success: z.literal(true),
  ignored: z.literal(true).optional().meta({ description: 'The commit has results on this branch already' }),
});

const Level = z.enum(LEVELS);

export const GateOut = z
  .object({ status: z.enum(['passed', 'failed', 'none', 'unknown']), reasons: z.array(z.string()) })
  .meta({ id: 'QualityGateResult' });

const Summary = z.object({
  totalIssues: z.int(),
  issuesByLevel: z.object({ error: z.int(), warning: z.int(), note: z.int(), none: z.int() }),
  issuesByRule: z
    .array(z.object({ ruleId: z.string(), ruleName: z.string(), count: z.int(), level: Level }))
    .meta({ description: 'At most 1,000, the most severe and most frequent; the level is the highest of its results' }),
  toolsUsed: z.array(z.object({ name: z.string(), version: z.string().nullable() })),
  filesAffected: z.int(),
  analysisSuccessful: z.boolean(),
  cutTools: z
    .array(z.object({ tool: z.string(), kept: z.int(), found: z.int() }))
    .optional()
    .meta({
      description:
        'Tools that found more issues than are kept: the other numbers of this run, and new and fixed ones of this and the next run, count only what is kept',
    }),
  isComplete: z.boolean().meta({ description: 'The numbers count all issues that the tools found' }),
  incompleteReason: z.string().nullable().meta({ description: 'Why they count only a part' }),
  suppressed: z.int().meta({ description: 'Suppressed results, which no other number counts' }),
  newIssues: z.int().nullable().meta({
    description:
      'Issues that the run before it on the branch did not have; null until the two are compared, 0 for the first run',
  }),
  fixedIssues: z.int().nullable().meta({ description: 'Issues that only the run before it had' }),
});

const shown = z.object({
  id: z.uuid(),
  repositoryIdentifier: z.string(),
  branch: z.string(),
  commitId: z.string(),
  analyzedAt: Timestamp,
  duration: z.number().nullable().meta({ description: 'Milliseconds' }),
  summary: Summary,
  metadata: z.object({ triggeredBy: z.string(), scheduledRun: z.boolean(), tools: z.array(z.string()) }),
  gate: GateOut.nullable().meta({
    description:
      'null until the run is compared; `none`: the project has no quality gate; `unknown`: too few issues are kept to tell',
  }),
  sarifUrl: z.string().meta({ description: 'Where the SARIF log is' }),
});

export const AnalysisOut = shown.meta({ id: 'CodeAnalysis' });

const AnalysisWithLog = shown
  .extend({ sarif: JsonObject.optional().meta({ description: 'The SARIF log as it was published' }) })
  .meta({ id: 'CodeAnalysisWithLog' });

export const AnalysisQuery = ofRepository.extend({
  branch: Name,
  commitId: CommitId.optional().meta({
    description: 'May be abbreviated as when publishing; absent: the newest analysis of the branch',
  }),
  includeSarif: queryFlag(true),
});

export const EnvelopeOut = z
  .object({
    status: z.enum(['available', 'pending', 'error']),
    jobId: z.uuid().nullable().meta({ description: 'A flow run: `GET /api/flows/runs/{id}`' }),
    message: z.string().nullable(),
    data: AnalysisWithLog.nullable(),
  })
  .meta({ id: 'CodeAnalysisEnvelope' });

export const DashboardOut = z
  .object({
    repositoryIdentifier: z.string(),
    branch: z.string(),
    latestAnalysis: AnalysisOut.nullable(),
    history: z.array(
      z.object({
        commitId: z.string(),
        analyzedAt: Timestamp,
        totalIssues: z.int(),
        errors: z.int(),
        warnings: z.int(),
        newIssues: z.int().nullable(),
        fixedIssues: z.int().nullable(),
        isComplete: z.boolean().meta({
          description:
            'The numbers count all issues; new and fixed ones those of this run and of the one before it, too',
        }),
        sarifUrl: z.string(),
      }),
    ),
    trends: z.object({
      issuesTrend: z.enum(['up', 'down', 'stable']).meta({
        description: 'Mean of the last three runs against that of up to three before them; under four runs `stable`',
      }),
      isComplete: z.boolean().meta({
        description:
          'False when not all issues of one of these runs are counted: the trend is that of the counted ones',
      }),
    }),
  })
  .meta({ id: 'CodeAnalysisDashboard' });
