import { z } from 'zod';
import { AUTH_URL_COMMANDS } from '../../../domain/orgs/crm/auth-url-rules.ts';
import type { OrgRow } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { ORG_HEALTH_STATUSES, shownHealth } from '../../../domain/orgs/crm-orgs/org-health-rules.ts';
import { METADATA_MAX, parseMetadataFilter } from '../../../domain/orgs/crm-orgs/org-metadata-rules.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { mapOf, textUpTo, trimmedText, valueOf } from '../../../domain/kernel/overrides/large-maps.ts';
import { Name, NAME_MAX, Timestamp, WITHOUT_CONTROLS } from '../../http/parameters.ts';

const METADATA_TEXT_MAX = 1_000;
const limit = { max: METADATA_MAX, message: `at most ${METADATA_MAX} pairs` };

/** A username or the name of a sandbox, which both name an org; control characters would show up in logs and queries. */
export const OrgName = Name.regex(WITHOUT_CONTROLS, 'must not contain control characters');
export const Username = OrgName.meta({
  description: 'Username of the org, without regard to case',
  example: 'ci@acme.example',
});
export const OrgNameInQuery = OrgName.meta({
  description: 'Username of the org or, for a sandbox, its name; without regard to case',
  example: 'ci@acme.example',
});
export const SandboxName = z
  .string()
  .regex(/^[A-Za-z0-9]{1,10}$/, 'must be 1 to 10 letters and digits')
  .meta({ description: 'Name of the sandbox, without regard to case', example: 'uat' });

const CliAuthUrl = z
  .string()
  .min(1)
  .max(4_000)
  .meta({
    description: `Long-lived auth URL: \`force://<clientId>:<clientSecret>:<refreshToken>@<host>\`. ${AUTH_URL_COMMANDS}. Never logged`,
  });

export const OrgIn = z.strictObject({
  cliAuthUrl: CliAuthUrl,
  instanceUrl: z.string().min(1).max(500).optional().meta({
    description: 'Origin of the auth URL, or the one that the org itself gives; default: the latter',
  }),
  isDevHub: z
    .boolean()
    .optional()
    .meta({ description: 'Verified at the org. Default: false, or as registered before' }),
  isDefault: z.boolean().optional().meta({
    description: 'The default dev hub of the tenant, which ends the one before; verified as `isDevHub`',
  }),
  metadata: mapOf(trimmedText(NAME_MAX), textUpTo(METADATA_TEXT_MAX), limit).optional(),
});

export const SandboxIn = z.strictObject({ sandboxName: SandboxName, productionUsername: Username });

export const OrgPatch = z
  .strictObject({
    isDevHub: z.boolean(),
    isDefault: z.boolean(),
    metadata: mapOf(trimmedText(NAME_MAX), valueOf(z.string().max(METADATA_TEXT_MAX).nullable()), limit).meta({
      description: 'Merged; null removes a pair',
    }),
    cliAuthUrl: CliAuthUrl,
  })
  .partial();

export const OptionalFlag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional();

export const MetadataFilter = z
  .string()
  .max(4_000)
  .transform((text, context) => {
    const parsed = parseMetadataFilter(text);
    if (parsed) return parsed;
    context.addIssue('must be like k1=v1,k2=v2, or a JSON object of strings');
    return z.NEVER;
  })
  .optional()
  .meta({ description: '`k1=v1,k2=v2`, or a JSON object of strings; all pairs must hold' });

export const OrgHealth = z
  .object({
    status: z.enum(ORG_HEALTH_STATUSES).meta({
      description: '`auth_failed`: the org refused its credential, and is not called until it is renewed or tested',
    }),
    checkedAt: Timestamp.nullable(),
    error: z.string().nullable(),
    hint: z.string().nullable().meta({ description: 'What a person can do about it' }),
  })
  .meta({ id: 'OrgHealth' });

export const orgRecord = {
  username: z.string(),
  instanceUrl: z.string(),
  orgId: z.string(),
  organizationType: z.string().meta({ description: '`Sandbox`, `Scratch`, otherwise the edition' }),
  instanceName: z.string().nullable(),
  sandboxName: z.string().nullable(),
  parentProductionUsername: z.string().nullable(),
  isJitRegistration: z.boolean(),
  isDevHub: z.boolean(),
  isDefault: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  authType: z.enum(['refresh_token', 'jit']),
  health: OrgHealth,
  expiresAt: Timestamp.nullable().meta({ description: 'When a scratch org or trial expires; null for other orgs' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const Org = z.object(orgRecord).meta({ id: 'Org' });

/** An org as replies show it. */
export const orgReply = (org: OrgRow) => ({
  username: org.username,
  instanceUrl: org.instanceUrl,
  orgId: org.platformOrgId,
  organizationType: org.organizationType,
  instanceName: org.instanceName,
  sandboxName: org.sandboxName,
  parentProductionUsername: org.parentProductionUsername,
  isJitRegistration: org.isJitRegistration,
  isDevHub: org.isDevHub,
  isDefault: org.isDefault,
  metadata: org.metadata,
  authType: org.isJitRegistration ? ('jit' as const) : ('refresh_token' as const),
  health: shownHealth(org),
  expiresAt: org.expiresAt,
  createdAt: org.createdAt,
  updatedAt: org.updatedAt,
});

const shownTime = (text: string | null): string | null => (text === null ? null : isoOf(text));

/** A list of orgs as JSON, without the schema's parsing, which would take most of the time of a long list. */
export const orgsText = (orgs: readonly OrgRow[]): string =>
  JSON.stringify(
    orgs.map((org) => {
      const { health, expiresAt, createdAt, updatedAt, ...shown } = orgReply(org);
      return {
        ...shown,
        health: { ...health, checkedAt: shownTime(health.checkedAt) },
        expiresAt: shownTime(expiresAt),
        createdAt: isoOf(createdAt),
        updatedAt: isoOf(updatedAt),
      };
    }),
  );

export const ConnectionTest = z.object({
  isValid: z.boolean(),
  username: z.string(),
  orgId: z.string(),
  organizationType: z.string(),
  instanceName: z.string().nullable(),
  error: z.string().nullable(),
  hint: z.string().nullable(),
});
