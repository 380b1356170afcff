import { z } from 'zod';
import type { ComponentKey } from '../../../domain/orgs/org-explorer/component-files.queries.ts';
import { COMPONENT_CHANGES, FILE_STATES } from '../../../domain/orgs/org-explorer/explorer-rules.ts';
import {
  NAME_MAX,
  queryFlag,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
  WITHOUT_CONTROLS,
} from '../../http/parameters.ts';

const text = (max: number) => z.string().min(1).max(max).regex(WITHOUT_CONTROLS, 'must have no control characters');

export const OrgUsername = text(NAME_MAX).meta({
  description: 'Username of a registered org or, for a sandbox, its name; without regard to case',
  example: 'ci@acme.example',
});
export const MetadataTypeName = text(NAME_MAX).meta({ description: 'Metadata type', example: 'ApexClass' });
export const MemberName = text(500).meta({
  description: 'Full name of the component; children have that of their parent before a dot',
  example: 'OrderService',
});

const ofRepository = { repositoryIdentifier: RepositoryIdentifier, orgUsername: OrgUsername };

/** Opaque to clients: parts of the last entry of a page. */
export const cursorOf = (...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

function partsOf(cursor: string): [string, string] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 2) return undefined;
    const [first, second] = parts as unknown[];
    const isStorable = [first, second].every(
      (part) => typeof part === 'string' && !part.includes('\0') && part.isWellFormed(),
    );
    return isStorable ? [first as string, second as string] : undefined;
  } catch {
    return undefined;
  }
}

const cursor = <Value>(read: (first: string, second: string) => Value | undefined) =>
  z
    .string()
    .max(4_000)
    .transform((given, context) => {
      const parts = partsOf(given);
      const value = parts && read(...parts);
      if (value !== undefined) return value;
      context.addIssue('not a cursor of this list');
      return z.NEVER;
    })
    .optional()
    .meta({ override: { type: 'string', description: 'Cursor from the `Link` header of the previous page' } });

const MemberCursor = cursor((metadataType, memberName): ComponentKey => ({ metadataType, memberName }));
export const ChangeCursor = cursor((detectedAt, id) =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(detectedAt) &&
  !Number.isNaN(Date.parse(detectedAt)) &&
  z.uuid().safeParse(id).success
    ? { detectedAt, id }
    : undefined,
);

export const page = { limit: queryInt(1, 1_000, 100), cursor: MemberCursor };

export const ComponentQuery = z.strictObject({
  ...ofRepository,
  metadataType: MetadataTypeName,
  memberName: MemberName,
  refresh: queryFlag(false).meta({ description: 'Read it anew; the reply is `pending` with what is kept' }),
});
export const ComponentListQuery = z.strictObject({
  orgUsername: OrgUsername,
  metadataType: MetadataTypeName.optional(),
  search: text(200).optional().meta({ description: 'Beginning of the name, without regard to case' }),
  ...page,
});
export const MetadataQuery = z.strictObject(ofRepository);
export const RefreshIn = z.strictObject({
  ...ofRepository,
  metadataTypes: z.array(MetadataTypeName).min(1).max(500).optional().meta({ description: 'Default: all' }),
});

export const state = {
  status: z.enum(['available', 'pending', 'error']).meta({
    description:
      '`pending`: it is being read from the org, ask again; `error`: the last refresh failed, what is shown is kept from before',
  }),
  jobId: z.string().nullable().meta({ description: 'The refresh that is requested or under way' }),
  message: z.string().nullable(),
};

/** How far what is said about an org can be relied on. */
const indexMembers = {
  syncedAt: Timestamp.nullable().meta({
    description: 'Nothing that is shown was listed before; null: nothing has been listed',
  }),
  isComplete: z.boolean().meta({
    description: 'All types were listed, and all sources that are kept were read; of one type, that is asked for: it',
  }),
  failedTypes: z.array(z.object({ metadataType: z.string(), error: z.string() })),
  unreadTypes: z.array(z.string()).meta({ description: 'Types that have not been listed whole' }),
};

/** The envelope of replies: what is kept, and whether it is being read. */
const envelope = <Data extends z.ZodType, More extends z.ZodRawShape>(data: Data, more: More) =>
  z.object({ ...state, data: data.nullable(), ...more });

export const OrgState = z
  .object({ orgUsername: z.string(), ...state, ...indexMembers })
  .meta({ id: 'OrgIndexState', description: 'What is known of the metadata of an org' });

const ComponentFile = z.object({
  fileName: z.string(),
  fullName: z.string(),
  type: z.string(),
  state: z.enum(FILE_STATES).meta({ description: 'What the last refresh found' }),
  fileContent: z.string().nullable().meta({
    description: 'Null for files over 1 MB and beyond 5 MB in all, which `downloadUrl` gives',
  }),
  encoding: z.enum(['utf8', 'base64']).nullable().meta({ description: '`base64` where the content is not UTF-8' }),
  sha256: z.string().nullable(),
  sizeBytes: z.int().nullable(),
  fetchedAt: Timestamp,
  downloadUrl: z.string().nullable().meta({ description: 'Valid for 15 minutes without a credential' }),
});

export const ComponentOut = envelope(
  z
    .object({
      metadataType: z.string(),
      memberName: z.string(),
      files: z.array(ComponentFile),
      lastModifiedAt: Timestamp.nullable(),
      lastModifiedBy: z.string().nullable(),
      manageableState: z.string().nullable(),
    })
    .meta({ id: 'OrgComponent' }),
  {},
);

export const ComponentListOut = envelope(
  z.object({
    items: z.array(
      z.object({
        metadataType: z.string(),
        memberName: z.string(),
        fileName: z.string().nullable(),
        lastModifiedAt: Timestamp.nullable(),
        lastModifiedBy: z.string().nullable(),
        manageableState: z.string().nullable(),
        fetchedAt: Timestamp.nullable().meta({ description: 'When its source was read; null: not yet' }),
      }),
    ),
    total: z.int(),
  }),
  indexMembers,
);

const Sync = z.object({
  jobId: z.string(),
  status: z.enum(['succeeded', 'failed']),
  source: z.enum(['refresh', 'ingest']).meta({ description: '`ingest`: a worker outside the service reported it' }),
  metadataTypes: z.array(z.string()).nullable().meta({ description: 'Null: all' }),
  requestedBy: z.string(),
  startedAt: Timestamp.nullable(),
  finishedAt: Timestamp.nullable(),
  durationMs: z.int().nullable(),
  typesCount: z.int(),
  componentsCount: z.int(),
  filesRetrieved: z.int(),
  failedTypes: z.array(z.object({ metadataType: z.string(), error: z.string() })),
  message: z.string().nullable(),
});

export const MetadataOut = envelope(
  z.object({
    types: z.array(
      z.object({
        metadataType: z.string(),
        count: z.int().nullable().meta({ description: 'Null: not known, since they have not been listed' }),
        syncedAt: Timestamp.nullable(),
        ageSeconds: z.int().nullable().meta({ description: 'Since its components were last listed' }),
        error: z.string().nullable(),
      }),
    ),
    lastSync: Sync.nullable(),
  }),
  indexMembers,
);

export const RefreshOut = z.object({
  status: z.literal('pending'),
  data: z.null(),
  jobId: z.string(),
  message: z.string(),
});

export const change = {
  metadataType: z.string(),
  memberName: z.string(),
};

export const ChangesOut = z.object({
  items: z.array(
    z.object({
      ...change,
      change: z.enum(COMPONENT_CHANGES),
      modifiedAt: Timestamp.nullable().meta({
        description: 'As the org says it; of a deleted component, when it was changed last',
      }),
      modifiedBy: z.string().nullable().meta({
        description: 'Null of a deleted component: the org does not say who deleted it',
      }),
      before: z.string().nullable().meta({ description: 'Digest of the names and contents of its files' }),
      after: z.string().nullable().meta({
        description:
          'Digest of its files after the change; null for a component that is new, whose source is read after it was found',
      }),
      detectedAt: Timestamp,
      jobId: z.string().nullable(),
    }),
  ),
});
