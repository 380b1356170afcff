import { z } from 'zod';
import { DELETIONS_MAX, MANIFEST_VERSION } from '../../../domain/orgs/gc-ledger/gc-deletion-rules.ts';
import { GC_CAUSES, GC_CHECK_STATUSES } from '../../../domain/orgs/gc-ledger/gc-ledger.entities.ts';
import {
  EVIDENCE_DAYS,
  GC_BATCH_MAX,
  GC_EVENT_TYPES,
  GC_STATUSES,
  HISTORY_SHOWN,
  PRESENCES,
} from '../../../domain/orgs/gc-ledger/gc-ledger-rules.ts';
import {
  FreeText,
  NAME_MAX,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
  WITHOUT_CONTROLS,
} from '../../http/parameters.ts';

const text = (max: number) => z.string().min(1).max(max).regex(WITHOUT_CONTROLS, 'must have no control characters');

/** Collections of manifests end in the branch behind a colon, which no branch of git has. */
export const Branch = text(NAME_MAX)
  .regex(/^[^:]*$/, 'must be the name of a branch, which has no colon')
  .meta({ example: 'main' });
const PackageName = text(NAME_MAX).meta({ description: 'The package that dropped the component', example: 'sales-ui' });

const component = {
  packageName: PackageName,
  componentType: text(NAME_MAX).meta({ description: 'Metadata type', example: 'CustomField' }),
  fullName: text(500).meta({
    description: 'Full name; children have that of their parent before a dot',
    example: 'Account.Region__c',
  }),
};

const place = { repositoryIdentifier: RepositoryIdentifier, branch: Branch };

export const EventsIn = z.strictObject({
  ...place,
  events: z.array(z.strictObject({ type: z.enum(GC_EVENT_TYPES), ...component })).max(GC_BATCH_MAX),
});

export const DecisionIn = z.strictObject({ ...place, ...component, reason: FreeText.optional() });

export const OrgCheckIn = z.strictObject({
  ...place,
  environment: z.string().min(1).max(NAME_MAX).meta({ description: 'Name of the environment whose org was asked' }),
  results: z.array(z.strictObject({ ...component, presence: z.enum(PRESENCES) })).max(GC_BATCH_MAX),
});

/** One or more statuses, separated by commas. */
const Statuses = z
  .string()
  .transform((list) => [...new Set(list.split(',').map((word) => word.trim()))])
  .pipe(z.array(z.enum(GC_STATUSES)))
  .meta({ override: { type: 'string', description: `One or more of ${GC_STATUSES.join(', ')}, separated by commas` } });

export const LedgerQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  branch: Branch.optional(),
  status: Statuses.optional(),
  package: PackageName.optional(),
  limit: queryInt(1, 500, 100),
  offset: queryInt(0, 999_999_999, 0),
});

const Status = z.enum(GC_STATUSES);

export const GcEntries = z.object({
  items: z.array(
    z
      .object({
        repositoryIdentifier: z.string(),
        branch: z.string(),
        packageName: z.string(),
        componentType: z.string(),
        fullName: z.string(),
        status: Status,
        movedTo: z.string().nullable().meta({ description: 'The package of the branch that has the component now' }),
        ownedBy: z.string().nullable().meta({
          description:
            'The repository that has it, in status `owned-elsewhere`; null where the caller does not reach it',
        }),
        detectedAt: Timestamp.nullable().meta({ description: 'The last time that it was detected anew' }),
        lastEventAt: Timestamp,
        createdAt: Timestamp,
        updatedAt: Timestamp,
        history: z
          .array(
            z.object({
              at: Timestamp,
              from: Status.nullable().meta({ description: 'Null: the entry was new' }),
              to: Status,
              cause: z.enum(GC_CAUSES),
              movedTo: z.string().nullable(),
              environment: z.string().nullable().meta({ description: 'Whose org was checked' }),
              reason: z.string().nullable(),
              by: z.string(),
            }),
          )
          .meta({ description: `The last ${HISTORY_SHOWN} changes of status, the newest last` }),
        presence: z
          .array(z.object({ environment: z.string(), presence: z.enum(PRESENCES), checkedAt: Timestamp }))
          .meta({
            description: `What orgs said last, by the order of the environments; it counts for ${EVIDENCE_DAYS} days, and until the component is detected anew or restored`,
          }),
      })
      .meta({ id: 'GcEntry' }),
  ),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});

export const DeletionsQuery = z.strictObject({
  ...place,
  format: z.enum(['json', 'xml', 'zip']).default('json'),
  environment: z.string().min(1).max(NAME_MAX).optional().meta({
    description:
      'Name of an environment: components that are absent in its org, and those of which it did not say it, are left out',
  }),
  version: z
    .string()
    .regex(/^[1-9]\d{1,2}\.0$/, 'must be a version of the interface, such as 66.0')
    .default(MANIFEST_VERSION),
});

export const Deletions = z
  .object({
    Package: z.object({
      types: z.array(z.object({ name: z.string(), members: z.array(z.string()) })),
      version: z.string(),
    }),
    notDeletable: z.array(z.object({ componentType: z.string(), fullName: z.string(), reason: z.string() })).meta({
      description: 'Detected components that no manifest can delete, or that are to be kept, with the reason',
    }),
    unreadableManifests: z.array(z.string()).meta({
      description: 'Packages of the branch whose manifest cannot be read: while there is one, nothing is deleted',
    }),
    unreadableElsewhere: z.int().meta({
      description: 'How many manifests of other repositories cannot be read: what they hold is not known',
    }),
    total: z.int().meta({
      description: `All detected components; the first ${DELETIONS_MAX.toLocaleString('en')} of them are here, those that can be deleted before the others`,
    }),
  })
  .meta({ id: 'GcDeletions' });

export const CheckIn = z.strictObject(place);

export const GcCheckOut = z
  .object({
    id: z.string(),
    repositoryIdentifier: z.string(),
    branch: z.string(),
    status: z.enum(GC_CHECK_STATUSES).meta({ description: '`failed`: no org answered' }),
    environments: z
      .array(
        z.object({
          environment: z.string(),
          present: z.int(),
          absent: z.int(),
          unknown: z.int(),
          error: z
            .string()
            .nullable()
            .meta({ description: 'Why components are unknown; null when all could be asked for' }),
        }),
      )
      .meta({ description: 'How many entries were found, or not; empty until the check has ended' }),
    error: z.string().nullable(),
    requestedBy: z.string(),
    createdAt: Timestamp,
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: 'GcCheck' });
