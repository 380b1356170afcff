import { z } from 'zod';
import { Timestamp } from '../../http/parameters.ts';
import { OrgHealth } from './crm-orgs.schemas.ts';

export const OrgOverview = z
  .object({
    username: z.string(),
    orgId: z.string(),
    organizationType: z.string(),
    sandboxName: z.string().nullable(),
    health: OrgHealth,
    worstLimit: z
      .object({
        name: z.string(),
        usagePct: z.number(),
        alertLevel: z.string().meta({ description: '`ok`, `warning` or `critical`' }),
        forecastAt: z.string().nullable().meta({ description: 'When it will be used up; null: not foreseeable' }),
      })
      .nullable()
      .meta({ description: 'The limit nearest to its end, as the last poll found it; null before the first' }),
    expiresAt: Timestamp.nullable(),
    lastSync: z
      .object({
        jobId: z.string(),
        status: z.string().meta({ description: '`succeeded` or `failed`' }),
        finishedAt: Timestamp.nullable(),
        message: z.string().nullable().meta({ description: 'Why it failed' }),
      })
      .nullable()
      .meta({ description: 'The last reading of its metadata by the org explorer; null before the first' }),
    environments: z.array(z.object({ repositoryIdentifier: z.string(), name: z.string() })).meta({
      description: 'Environments that name it as their org or dev hub',
    }),
  })
  .meta({ id: 'OrgOverview' });

export const Sandbox = z
  .object({
    name: z.string(),
    state: z.enum(['ready', 'copying']),
    status: z.string().meta({ description: 'As the platform says: `Completed`, `Processing`, `Pending Activation`' }),
    copyProgress: z.number().meta({ description: 'Per cent, 0 to 100' }),
    orgId: z.string().nullable(),
    licenseType: z.string().nullable(),
    description: z.string().nullable(),
    createdAt: Timestamp.meta({ description: 'When the sandbox was created or last refreshed' }),
    endedAt: Timestamp.nullable(),
    username: z.string().nullable(),
  })
  .meta({ id: 'Sandbox' });
