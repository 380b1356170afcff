import type { ObjectStore } from '../../../kernel/objects/object-store.port.ts';
import { logKey, pieces } from './log-upload.ts';
import { type ReadRun, SarifReader } from './sarif-reader.ts';

/** The runs of a stored log, one at a time. There is none when the log is gone. */
export async function* runsOf(
  objects: ObjectStore,
  { tenantId, bodyId }: { tenantId: string; bodyId: string },
): AsyncGenerator<ReadRun> {
  const content = await objects.get(logKey(tenantId, bodyId));
  if (!content) return;
  const reader = new SarifReader({ isInBody: false, keepsMessages: true });
  for await (const piece of pieces(content)) {
    reader.write(piece);
    yield* reader.takeRuns();
  }
  reader.end();
}
