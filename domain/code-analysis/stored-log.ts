import type { ObjectStore } from '../objects/object-store.port.ts';
import { logKey, pieces } from './log-upload.ts';
import { SarifReader } from './sarif-reader.ts';
import type { SarifResult, SarifRun } from './sarif-rules.ts';

/** The runs of a stored log, one at a time. There is none when the log is gone. */
export async function* runsOf(
  objects: ObjectStore,
  { tenantId, bodyId }: { tenantId: string; bodyId: string },
): AsyncGenerator<{ run: SarifRun; results: SarifResult[] }> {
  const content = await objects.get(logKey(tenantId, bodyId));
  if (!content) return;
  const read: { run: SarifRun; results: SarifResult[] }[] = [];
  const reader = new SarifReader((run, results) => read.push({ run, results }), { isInBody: false });
  for await (const piece of pieces(content)) {
    reader.write(piece);
    yield* read.splice(0);
  }
  reader.end();
}
