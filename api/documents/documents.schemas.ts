import { z } from 'zod';
import { FILTERS_MAX } from '../../domain/documents/compile-filter.ts';
import { SORTS_MAX } from '../../domain/documents/compile-sort.ts';
import { collectionNameProblem, keyProblem } from '../../domain/documents/name-rules.ts';
import { STORES } from '../../domain/kernel/settings/kept-version-rules.ts';
import { FILTER_OPERATORS } from '../../domain/events/webhooks/filter-rules.ts';
import { OPEN_LIMITS, queryInt, Timestamp, withinSize } from '../http/parameters.ts';

export const GROUP = 'Document store';

const without = (problemOf: (text: string) => string | undefined) => (context: z.core.ParsePayload<string>) => {
  const message = problemOf(context.value);
  if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value });
};

export const CollectionName = z.string().check(without(collectionNameProblem)).meta({
  description: 'Name of a collection; slashes separate segments and must be percent-encoded in a path',
  example: 'catalog/npm',
});
export const Key = z
  .string()
  .check(without(keyProblem))
  .meta({ description: 'Key of a document in its collection', example: 'lodash' });

const Store = z.enum(STORES).default('doc');
export const ofStore = z.strictObject({ store: Store });
export const inCollection = z.object({ collectionName: CollectionName });
export const ofDocument = z.object({ collectionName: CollectionName, key: Key });

/** Leaves room to increment a version. */
const Version = z.int().min(1).max(2_147_483_646);
/** Any JSON value, but required. */
const Value = z
  .unknown()
  .refine((value) => value !== undefined, 'is required')
  .meta({ description: 'Any JSON value of at most 1 MB and 100 levels' });

const VersionTag = z
  .string()
  .regex(/^"[1-9]\d{0,8}"$/, 'must be the ETag of one version: "3"')
  .transform((tag) => Number(tag.slice(1, -1)))
  .meta({
    override: { type: 'string', example: '"3"', description: 'The `ETag` of the expected current version' },
  });
export const IfMatch = z.object({ 'if-match': VersionTag.optional() });
export const Conditions = IfMatch.extend({
  'if-none-match': z.literal('*').optional().meta({ description: '`*`: the document must not exist yet' }),
});

export const Collection = z.object({ id: z.string(), name: z.string() });
export const CollectionIn = z.strictObject({ name: CollectionName });

const Found = z.object({ collection: z.string(), key: z.string(), version: z.int(), value: z.unknown() });
export const FoundDocuments = z.array(Found);
export const Document = Found.extend({ createdAt: Timestamp, updatedAt: Timestamp });
export const CollectionWithDocuments = Collection.extend({ documents: z.array(Document.omit({ collection: true })) });
export const DocumentIn = z.strictObject({ value: Value, version: Version.optional() });
export const KeyAndVersion = z.object({ key: z.string(), version: z.int() });
export const EarlierVersion = z.object({
  version: z.int(),
  value: z.unknown(),
  updatedAt: Timestamp,
  updatedBy: z.string(),
});

/** Lists by name are paged by the last name of the previous page. */
export const LIST_MAX = 10_000;
export const CollectionsQuery = z.strictObject({
  limit: queryInt(1, LIST_MAX, LIST_MAX),
  after: z.string().default(''),
});
export const KeysQuery = CollectionsQuery.extend({ store: Store });
export const VersionsQuery = z.strictObject({
  store: Store,
  limit: queryInt(1, 100, 20),
  before: queryInt(1, 999_999_999, 999_999_999),
});

const Path = z.string().min(1).max(512).meta({
  description:
    'Segments are separated by dots; a numeric segment is an array index, `\\.` a literal dot. `$key`, `$collection` and `$version` refer to the document itself',
  example: 'dependencies.lodash',
});
const Filter = z.strictObject({
  field: Path,
  operator: z.enum(FILTER_OPERATORS),
  value: z.unknown().refine((value) => value !== undefined, 'is required'),
});
const Sort = z.strictObject({ field: Path, direction: z.enum(['asc', 'desc']).default('asc') });
const Offset = z.int().min(0).max(1_000_000);
const Cursor = z.string().max(8_000);

export const QueryIn = z.strictObject({
  pathPattern: z.string().min(1).max(512).meta({
    description: 'Pattern for a collection or `collection/key`; `*` matches within a segment, `**` across segments',
    example: 'repo_*/metadata',
  }),
  filters: withinSize(z.array(Filter).max(FILTERS_MAX), OPEN_LIMITS).default([]),
  sort: z.array(Sort).max(SORTS_MAX).default([]),
  limit: z.int().min(1).max(1_000).default(100),
  offset: Offset.default(0),
  cursor: Cursor.optional(),
  fields: z
    .array(Path)
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Return only these fields of the values, nested as in the document' }),
});
export const CollectionQueryIn = QueryIn.extend({ pathPattern: QueryIn.shape.pathPattern.optional() });
export type DocumentQueryIn = z.output<typeof CollectionQueryIn>;

/** Paging parameters of the `Link` to the next page; they override those in the body. */
export const QueryQuery = z.strictObject({
  store: Store,
  cursor: Cursor.optional(),
  offset: queryInt(0, 1_000_000, -1).meta({ description: 'Relative to the cursor, if given' }),
});

export const BULK_MAX = 1_000;
export const BulkIn = z.strictObject({
  documents: z
    .array(z.strictObject({ collection: z.string(), key: z.string(), value: Value, version: Version.optional() }))
    .min(1)
    .max(BULK_MAX),
  atomic: z.boolean().default(false).meta({ description: 'Write all documents or none' }),
});
export const BulkResult = z.object({
  collection: z.string(),
  key: z.string(),
  status: z
    .int()
    .meta({ description: '201: created, 200: updated, otherwise the status that the write would get on its own' }),
  version: z.int().optional(),
  error: z.object({ code: z.string(), detail: z.string(), currentVersion: z.int().nullable().optional() }).optional(),
});
export const BulkReply = z.object({ results: z.array(BulkResult), written: z.int(), refused: z.int() });
