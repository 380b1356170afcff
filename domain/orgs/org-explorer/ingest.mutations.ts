import type { ObjectStore } from '../../kernel/objects/object-store.port.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { type ComponentKey, knownComponents, seeComponents } from './component-files.queries.ts';
import { adjustCounts, syncedTypes } from './component-types.queries.ts';
import { type GivenFile, isDeleted, storeComponents } from './component-store.ts';
import { CONTENT_MAX_BYTES, contentKey, ContentNotStored, contentOf, type Content, storeContents } from './contents.ts';
import { useStored } from './contents.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import type { FileState } from './explorer-rules.ts';
import { assertSameOrg, OrgChanged } from './index.mutations.ts';

/** What a worker outside the service reports: components with the contents of their files. */
export interface ReportedComponent extends ComponentKey {
  sourceData: readonly {
    fileName: string;
    fullName: string;
    type: string;
    state: FileState;
    /** Null without content. */
    fileContent: string | null;
    encoding: 'utf8' | 'base64';
  }[];
}

interface ReportedFiles extends ComponentKey {
  files: readonly GivenFile[];
}

/** A reported component with contents that were stored before. */
export interface ReportedManifest extends ComponentKey {
  sourceData: readonly {
    fileName: string;
    fullName: string;
    type: string;
    state: FileState;
    objectKey: string | null;
    sizeBytes: number | null;
    sha256: string | null;
    fetchedAt: Date;
  }[];
}

interface IngestScope {
  tx: UnitOfWork;
  objects: ObjectStore;
  tenantId: string;
  org: ExplorerOrg;
}

/** How long a request waits for contents that are being removed. */
const REMOVAL_WAIT_MS = 5_000;

const WITHOUT_CONTENT: ReadonlySet<FileState> = new Set(['Deleted', 'Failed']);

/** Replaces the files of components that a worker read. Throws `invalid_request`, and `unavailable` when the store takes none. */
export async function ingestComponents(scope: IngestScope, reported: readonly ReportedComponent[], at = 'components') {
  const contents: Content[] = [];
  const components = merged(reported).map(
    ({ sourceData, index, ...key }): ReportedFiles => ({
      ...key,
      files: sourceData.map((file, place): GivenFile => {
        const { fileName, fullName, type, state } = file;
        if (file.fileContent === null || state === 'Deleted') {
          if (!WITHOUT_CONTENT.has(state))
            throw invalidField(fieldOf(at, index, place, 'fileContent'), `a file that is ${state} has content`);
          return { fileName, fullName, type, state, sha256: null, sizeBytes: null };
        }
        const content = contentOf(bytesOf(file.fileContent, file.encoding, fieldOf(at, index, place, 'fileContent')));
        if (content.sizeBytes > CONTENT_MAX_BYTES)
          throw invalidField(fieldOf(at, index, place, 'fileContent'), `at most ${CONTENT_MAX_BYTES} bytes`);
        contents.push(content);
        return { fileName, fullName, type, state, sha256: content.sha256, sizeBytes: content.sizeBytes };
      }),
    }),
  );
  await keepContents(scope, contents);
  await scope.tx((tx) => writeReported(tx, scope.org, components));
}

function bytesOf(text: string, encoding: 'utf8' | 'base64', field: string): Buffer {
  const bytes = Buffer.from(text, encoding);
  // What is no base64 is passed over when it is decoded. Line breaks are part of some encoders' output.
  const digits = encoding === 'base64' ? text.replace(/\s+/g, '').replace(/={1,2}$/, '').length : 0;
  if (encoding === 'base64' && (digits % 4 === 1 || bytes.byteLength !== Math.floor((digits * 3) / 4)))
    throw invalidField(field, 'must be base64');
  return bytes;
}

/** The store is a dependency: without room it is `unavailable`. */
export async function keepContents(
  scope: Pick<IngestScope, 'tx' | 'objects' | 'tenantId'>,
  contents: readonly Content[],
): Promise<void> {
  try {
    await storeContents(scope, contents, { waitMs: REMOVAL_WAIT_MS });
  } catch (error) {
    if (!(error instanceof ContentNotStored)) throw error;
    throw new DomainError('unavailable', 'The object store takes no contents at the moment; try again later', {
      headers: { 'Retry-After': '60' },
    });
  }
}

/** Replaces the files of components by contents that were stored before. Throws `invalid_request` for any other key. */
export async function ingestManifest(
  { tx, tenantId, org }: IngestScope,
  reported: readonly ReportedManifest[],
): Promise<void> {
  const wanted: { sha256: string; sizeBytes: number; field: string }[] = [];
  const components = merged(reported).map(
    ({ sourceData, index, ...key }): ReportedFiles => ({
      ...key,
      files: sourceData.map(({ objectKey, fetchedAt, ...file }, place): GivenFile => {
        const given = { ...file, fetchedAt: fetchedAt.toISOString() };
        const { sha256, sizeBytes } = file;
        if (WITHOUT_CONTENT.has(file.state) && objectKey === null) return { ...given, sha256: null, sizeBytes: null };
        if (sha256 === null || sizeBytes === null || objectKey !== contentKey(tenantId, sha256))
          throw invalidField(
            fieldOf('components', index, place, 'objectKey'),
            'must be a key that PUT /api/orgs/explorer/internal/contents/{sha256} answered, with its digest',
          );
        wanted.push({ sha256, sizeBytes, field: fieldOf('components', index, place, 'objectKey') });
        return given;
      }),
    }),
  );
  await tx(async (work) => {
    const stored = new Map(
      (await useStored(work, [...new Set(wanted.map(({ sha256 }) => sha256))].toSorted())).map(
        ({ sha256, sizeBytes }) => [sha256, sizeBytes],
      ),
    );
    const missing = wanted.find(({ sha256, sizeBytes }) => stored.get(sha256) !== sizeBytes);
    if (missing) throw invalidField(missing.field, `there is no such object of ${missing.sizeBytes} bytes`);
    await writeReported(work, org, components);
  });
}

const fieldOf = (at: string, index: number, place: number, member: string): string =>
  [...(at === '' ? [] : [at, index]), 'sourceData', place, member].join('/');

/** One component for each key and one file for each name: the last report counts. */
function merged<Component extends ComponentKey & { sourceData: readonly { fileName: string }[] }>(
  reported: readonly Component[],
): (Component & { index: number })[] {
  const byKey = new Map(
    reported.map((component, index) => [
      keyOf(component),
      {
        ...component,
        index,
        sourceData: [...new Map(component.sourceData.map((file) => [file.fileName, file])).values()],
      },
    ]),
  );
  return [...byKey.values()];
}

const keyOf = ({ metadataType, memberName }: ComponentKey): string => `${metadataType} ${memberName}`;

/** Asserts that the org was neither removed nor refreshed since the request began. Throws `version_conflict`. */
export async function assertStillSame(tx: Tx, org: ExplorerOrg, lock: { isLocked: boolean }): Promise<void> {
  try {
    await assertSameOrg(tx, org, lock);
  } catch (error) {
    if (!(error instanceof OrgChanged)) throw error;
    throw new DomainError(
      'version_conflict',
      `Org ${org.username} was refreshed or removed while this was reported: read it anew, and report that`,
    );
  }
}

async function writeReported(tx: Tx, org: ExplorerOrg, components: readonly ReportedFiles[]): Promise<void> {
  await assertStillSame(tx, org, { isLocked: false });
  const types = [...new Set(components.map(({ metadataType }) => metadataType))];
  const synced = await syncedTypes(tx, org, types);
  const filesOf = new Map(components.map(({ files, ...key }) => [keyOf(key), files]));
  const { deleted = [], kept = [] } = Object.groupBy(components, ({ files }) =>
    isDeleted(files) ? 'deleted' : 'kept',
  );
  const seen = await seeComponents(tx, org, kept);
  const known = deleted.length === 0 ? [] : await knownComponents(tx, org, deleted);
  const added = seen.filter(({ isNew }) => isNew);
  // What is reported of a type for the first time is what later reports are compared with.
  const newIds = new Set(added.filter(({ metadataType }) => synced.has(metadataType)).map(({ id }) => id));
  const { files, removed } = await storeComponents(
    tx,
    { org, syncId: null, fetchedAt: tx.now, isNew: (id) => newIds.has(id) },
    [...seen, ...known].map((component) => ({ id: component.id, files: filesOf.get(keyOf(component)) ?? [] })),
  );
  await adjustCounts(tx, org, [
    ...added.map(({ metadataType }) => ({ metadataType, more: 1 })),
    ...removed.map(({ metadataType }) => ({ metadataType, more: -1 })),
  ]);
  tx.audit({
    source: 'crm',
    action: 'org_explorer.components_reported',
    entityType: 'crm_org',
    entityId: org.id,
    summary: `${components.length} components of org ${org.username} reported`,
    after: { components: components.length, files, added: added.length, removed: removed.length },
  });
}
