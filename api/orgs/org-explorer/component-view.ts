import type { Adapters } from '../../http/scope.ts';
import type { ComponentWithFiles, FileRow, Read } from '../../../domain/orgs/org-explorer/explorer-reads.ts';
import { contentKey } from '../../../domain/orgs/org-explorer/contents.ts';

/** Larger files come by a link. */
const SHOWN_MAX_BYTES = 1024 * 1024;
/** Most bytes of all files of a reply together. */
const ALL_SHOWN_MAX_BYTES = 5 * 1024 * 1024;

interface ViewScope {
  adapters: Pick<Adapters, 'objects'>;
  tenantId: string;
  publicUrl: string;
  now: () => Date;
}

/** A component as replies show it, with the contents of its files. */
export async function componentView(scope: ViewScope, { data, ...state }: Read<ComponentWithFiles>) {
  if (!data) return { ...state, data: null };
  const { metadataType, memberName, lastModifiedAt, lastModifiedBy, manageableState } = data.component;
  const files = [];
  let shownBytes = 0;
  for (const file of data.files) {
    const sizeBytes = file.sizeBytes ?? 0;
    const isShown = sizeBytes <= SHOWN_MAX_BYTES && shownBytes + sizeBytes <= ALL_SHOWN_MAX_BYTES;
    if (isShown) shownBytes += sizeBytes;
    files.push(await fileView(scope, file, isShown));
  }
  return { ...state, data: { metadataType, memberName, files, lastModifiedAt, lastModifiedBy, manageableState } };
}

async function fileView({ adapters, tenantId, publicUrl, now }: ViewScope, file: FileRow, isShown: boolean) {
  const { fileName, fullName, type, state, sha256, sizeBytes, fetchedAt, isText } = file;
  const facts = { fileName, fullName, type, state, sha256, sizeBytes, fetchedAt };
  const nothing = { ...facts, fileContent: null, encoding: null, downloadUrl: null };
  if (sha256 === null) return nothing;
  const key = contentKey(tenantId, sha256);
  if (!isShown) {
    const contentType = isText ? 'text/plain; charset=utf-8' : 'application/octet-stream';
    const token = await adapters.objects.downloads.sign({ key, fileName: plainName(fileName), contentType }, now());
    return { ...nothing, downloadUrl: `${publicUrl}/api/downloads?token=${token}` };
  }
  const content = await adapters.objects.store.get(key);
  if (!content) return nothing;
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  const encoding = isText ? ('utf8' as const) : ('base64' as const);
  return { ...nothing, fileContent: Buffer.concat(pieces).toString(encoding), encoding };
}

/** The last part of a path as a header can carry it. */
const plainName = (fileName: string): string =>
  (fileName.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 200);
