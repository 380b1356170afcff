import { z } from 'zod';
import { BROWSER_PROVIDERS } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { ISOLATIONS } from '../../../domain/kernel/settings/isolation-rules.ts';
import {
  CAP_MINUTES,
  DEFAULT_MINUTES,
  RECORDING_STATES,
  SESSION_STATUSES,
  STATUS_REASONS,
} from '../../../domain/review/browser-sessions/session-rules.ts';
import {
  AllowedHosts,
  Id,
  JsonObject,
  NAME_MAX,
  queryInt,
  queryList,
  RepositoryIdentifier,
  Timestamp,
  WITHOUT_CONTROLS,
} from '../../http/parameters.ts';

const Minutes = z.int().min(1).max(CAP_MINUTES);
const PullRequestNumber = z.int().min(1).max(2_147_483_647);
const SessionStatus = z.enum(SESSION_STATUSES);
const StatusReason = z.enum(STATUS_REASONS);

const wish = {
  minutes: Minutes.optional().meta({
    description: `How long the session lasts once it is live; default: ${DEFAULT_MINUTES}`,
  }),
  startPath: z.string().max(2_000).regex(WITHOUT_CONTROLS, 'must have no control characters').optional().meta({
    description: 'Where the browser begins, a path within the org; default: its home page',
    example: '/lightning/page/home',
  }),
  viewport: z
    .strictObject({ width: z.int().min(320).max(2_560), height: z.int().min(240).max(1_600) })
    .optional()
    .meta({ description: 'In CSS pixels; default: 1280 × 720' }),
  allowedHosts: AllowedHosts.optional(),
  recording: z.boolean().optional().meta({
    description: 'Whether the session is recorded; default: as the environment says, else true',
  }),
};

export const RecordForPrIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  prNumber: PullRequestNumber,
  ...wish,
});
export const RecordIn = z.strictObject(wish);

export const BrowserSession = z
  .object({
    id: z.uuid(),
    status: SessionStatus,
    expires_at: Timestamp,
    providerSessionId: z.string().nullable(),
    liveViewUrl: z.string().nullable().meta({
      description:
        'Page of this service that asks to sign in, and so may be published; of an external session the address that its worker gave',
    }),
    repositoryIdentifier: RepositoryIdentifier,
    prNumber: z.int().nullable(),
    environmentId: z.uuid().nullable(),
    provider: z.enum(BROWSER_PROVIDERS),
    isolation: z.enum(ISOLATIONS).nullable().meta({ description: 'What keeps a local browser in; null: not known' }),
    recording: z.object({
      state: z.enum(RECORDING_STATES),
      pages: z.int(),
      bytes: z.int(),
      reason: z.string().nullable().meta({ description: 'Why it is missing or partial' }),
    }),
    flowRunId: z.uuid().nullable(),
    statusReason: StatusReason.nullable(),
    statusDetail: z.string().nullable().meta({ description: 'For people: what happened, and what to do' }),
    createdBy: z.string().meta({ description: 'E-mail of a person, or name of an application token' }),
    createdAt: Timestamp,
    liveAt: Timestamp.nullable(),
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: 'BrowserSession' });

export const BrowserSessionWithTimeline = BrowserSession.extend({
  timeline: z
    .array(
      z.object({
        at: Timestamp,
        kind: z.string(),
        summary: z.string(),
        by: z.string(),
        data: JsonObject,
      }),
    )
    .meta({ description: 'The newest 100 events, the newest first' }),
}).meta({ id: 'BrowserSessionWithTimeline' });

export const SessionsQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier.optional(),
  prNumber: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a number of a pull request')
    .transform(Number)
    .optional()
    .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, { type: 'integer', minimum: 1 }) }),
  environmentId: z.uuid().optional(),
  status: queryList(SessionStatus, SESSION_STATUSES.length),
  limit: queryInt(1, 200, 50),
  offset: queryInt(0, 1_000_000, 0),
});

export const BrowserSessions = z.object({
  items: z.array(BrowserSession),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});

export const SessionPatch = z.strictObject({
  providerSessionId: z.string().trim().min(1).max(NAME_MAX).regex(WITHOUT_CONTROLS).optional(),
  liveViewUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  status: SessionStatus.optional(),
  statusReason: StatusReason.optional(),
});

export const ExtendSessionIn = z.strictObject({
  minutes: Minutes.meta({ description: `Added to the end, which is at most ${CAP_MINUTES} minutes after createdAt` }),
});

const Available = z.object({
  available: z.boolean(),
  reason: z.string().nullable().meta({ description: 'Why it is not available, and what would change that' }),
});

export const ProvidersQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier.optional().meta({
    description: 'Whose integration and pipeline count; without it those of the tenant',
  }),
});

export const BrowserProviders = z
  .object({
    provider: z.enum(BROWSER_PROVIDERS).nullable().meta({ description: 'The one that executes new sessions' }),
    reason: z.string().nullable().meta({ description: 'Why none does' }),
    external: Available,
    browserbase: Available,
    local: Available.extend({
      isolation: z.enum(ISOLATIONS).nullable().meta({ description: 'That of the least isolated host' }),
      hosts: z.int(),
      places: z.int().meta({ description: 'Sessions at the same time, on all hosts' }),
      placesUsed: z.int(),
      records: z.boolean().meta({ description: 'Whether a host can record' }),
      trouble: z.string().nullable().meta({ description: 'Why a host allocates no browsers, or does not record' }),
    }),
  })
  .meta({ id: 'BrowserProviders' });

export const byEnvironment = z.object({ envId: Id });
