import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectKey } from '../../kernel/objects/object-key-rules.ts';
import type { ObjectStore } from '../../kernel/objects/object-store.port.ts';
import { eachAtOnce } from '../../kernel/shared/at-once-rules.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import { claimContents, markStored } from './contents.queries.ts';

/** Largest content of a file. */
export const CONTENT_MAX_BYTES = 50 * 1024 * 1024;
const PUTS_AT_ONCE = 8;
/** While the sweep removes an object, which takes moments unless its process died. */
const REMOVAL_LOOK_MS = 200;
const REMOVAL_LOOK_MAX_MS = 5_000;
/** Longer than a removal that came to no end keeps a content. */
const REMOVAL_WAIT_MS = 6 * 60_000;

export interface Content {
  /** In hexadecimal. */
  sha256: string;
  sizeBytes: number;
  /** It is valid UTF-8. */
  isText: boolean;
  bytes: Uint8Array;
}

export const contentOf = (bytes: Uint8Array): Content => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  sizeBytes: bytes.byteLength,
  isText: isUtf8(bytes),
  bytes,
});

/** Where the content of a file of an org is kept: once per tenant. */
export const contentKey = (tenantId: string, sha256: string): string => objectKey(tenantId, 'org-contents', sha256);

/** The object store did not take a content, or is removing it; retrying may help. */
export class ContentNotStored extends Error {}

/**
 * Keeps contents that are not kept yet. Their rows come first, so that whatever is interrupted leaves no object that
 * nothing knows of. Throws `ContentNotStored`.
 * @param waitMs for contents that are being removed.
 */
export async function storeContents(
  { tx, objects, tenantId }: { tx: UnitOfWork; objects: ObjectStore; tenantId: string },
  contents: readonly Content[],
  { waitMs = REMOVAL_WAIT_MS }: { waitMs?: number } = {},
): Promise<void> {
  const deadline = performance.now() + waitMs;
  let lookMs = REMOVAL_LOOK_MS;
  const bySha = new Map(contents.map((content) => [content.sha256, content]));
  let unclaimed = [...bySha.values()];
  while (unclaimed.length > 0) {
    const claimed = await tx((work) => claimContents(work, unclaimed));
    const missing = claimed.filter(({ isStored, isRemoving }) => !isStored && !isRemoving);
    await putAll(
      objects,
      tenantId,
      missing.map(({ sha256 }) => bySha.get(sha256)).filter((content) => !!content),
    );
    if (missing.length > 0)
      await tx((work) =>
        markStored(
          work,
          missing.map(({ sha256 }) => sha256),
        ),
      );
    unclaimed = claimed.filter(({ isRemoving }) => isRemoving).flatMap(({ sha256 }) => bySha.get(sha256) ?? []);
    if (unclaimed.length === 0) return;
    if (performance.now() + lookMs > deadline) throw new ContentNotStored('A content is being removed');
    await sleep(lookMs);
    lookMs = Math.min(2 * lookMs, REMOVAL_LOOK_MAX_MS);
  }
}

async function putAll(objects: ObjectStore, tenantId: string, contents: readonly Content[]): Promise<void> {
  try {
    await eachAtOnce(contents, PUTS_AT_ONCE, async ({ sha256, bytes, isText }) => {
      const type = isText ? 'text/plain; charset=utf-8' : 'application/octet-stream';
      await objects.put(contentKey(tenantId, sha256), once(bytes), type);
    });
  } catch (error) {
    throw new ContentNotStored('The object store did not take a content', { cause: error });
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
