import { z } from 'zod';
import { FILE_STATES } from '../../../domain/orgs/org-explorer/explorer-rules.ts';
import { DateTime, WITHOUT_CONTROLS } from '../../http/parameters.ts';
import { MemberName, MetadataTypeName, OrgUsername } from './org-explorer.schemas.ts';

const BATCH_MAX = 1_000;
const FILES_MAX = 5_000;

const path = z.string().min(1).max(1_000).regex(WITHOUT_CONTROLS, 'must have no control characters');
const State = z.enum(FILE_STATES).meta({
  description: '`Deleted` removes the file; of a `Failed` one what was kept stays',
});
const file = {
  fileName: path.meta({ description: 'Path in the package', example: 'classes/OrderService.cls' }),
  fullName: path,
  type: path,
  state: State,
};

const SourceFile = z.strictObject({
  ...file,
  fileContent: z.string().nullable().default(null),
  encoding: z.enum(['utf8', 'base64']).default('utf8').meta({ description: 'How `fileContent` is written' }),
});
export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal')
  .meta({ description: 'SHA-256 of the content, in hexadecimal' });
const StoredFile = z.strictObject({
  ...file,
  objectKey: z.string().min(1).max(500).nullable().default(null).meta({
    description: 'As PUT /api/orgs/explorer/internal/contents/{sha256} answered it',
  }),
  contentType: z.string().max(200).nullish().meta({ description: 'Ignored' }),
  sizeBytes: z.int().min(0).nullable().default(null),
  sha256: Sha256.nullable().default(null),
  fetchedAt: DateTime,
});

const key = { metadataType: MetadataTypeName, memberName: MemberName };
const sources = <File extends z.ZodType>(schema: File) => z.array(schema).max(FILES_MAX);

export const ComponentIn = z.strictObject({ orgUsername: OrgUsername, ...key, sourceData: sources(SourceFile) });
export const ComponentsIn = z.strictObject({
  orgUsername: OrgUsername,
  components: z.array(z.strictObject({ ...key, sourceData: sources(SourceFile) })).max(BATCH_MAX),
});
export const ManifestIn = z.strictObject({
  orgUsername: OrgUsername,
  components: z.array(z.strictObject({ ...key, sourceData: sources(StoredFile) })).max(BATCH_MAX),
});

const FailedType = z
  .union([MetadataTypeName, z.strictObject({ metadataType: MetadataTypeName, error: z.string().max(2_000) })])
  .transform((given) =>
    typeof given === 'string' ? { metadataType: given, error: 'The worker could not read it' } : given,
  );

const count = z.int().min(0).max(2_000_000_000);
export const SyncIn = z.strictObject({
  orgUsername: OrgUsername,
  typeNames: z.array(MetadataTypeName).max(2_000),
  syncedAt: DateTime,
  duration: count.meta({ description: 'How long the sync took, in milliseconds' }),
  typesCount: count,
  componentsCount: count,
  filesRetrieved: count,
  failedTypes: z.array(FailedType).max(2_000),
});

export const ContentOut = z.object({ objectKey: z.string(), sizeBytes: z.int() });
