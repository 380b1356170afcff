import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { FormatError, type NotTaken } from '../formats/imported.ts';
import { type ImportFormat, readImport } from '../formats/read-import.ts';
import { createScenario, type MockParts } from '../mocks.mutations.ts';
import type { ScenarioRow } from '../mocks.queries.ts';
import { standInKey } from '../recording/secret-fields.ts';

export interface ScenarioImport {
  name: string;
  format: ImportFormat;
  content?: string | undefined;
  /** Instead of `content`: base64 of a zip. */
  contentBase64?: string | undefined;
  /** Origin whose exchanges of an HTTP archive are imported. Default: the one with the most. */
  origin?: string | undefined;
  /** Whether requests that break an OpenAPI document are refused. Default: true. */
  validates?: boolean | undefined;
}

interface ImportParts extends MockParts {
  tx: UnitOfWork;
  tenantId: string;
  encryption: Encryption;
  /** Aborted when nobody waits for the reply any more. */
  signal: AbortSignal;
}

/**
 * Makes a scenario, which is idle, of a document. Throws `invalid_request` for one that is refused as a whole, and
 * `already_exists`. Secrets of HTTP archives become stand-ins.
 */
export async function importScenario(
  { tx, tenantId, encryption, outbound, signal }: ImportParts,
  workspace: string,
  { name, content, contentBase64, ...options }: ScenarioImport,
): Promise<{ row: ScenarioRow; notTaken: NotTaken[] }> {
  const { scenario, steps, notTaken } = await refusing(contentBase64 === undefined ? 'content' : 'contentBase64', () =>
    readImport(
      tenantId,
      {
        ...options,
        content: contentBase64 ?? content ?? '',
        isPacked: contentBase64 !== undefined,
        standInKey: standInKey(encryption, tenantId),
      },
      signal,
    ),
  );
  const { description = '', mode, seed, unmatched = 'not_found', upstream, upstreams } = scenario;
  // What an archive or a description names need not be an address that may be called.
  const refusal = upstream === undefined ? undefined : outbound.refusedUrl(upstream);
  const isOwn = options.format === 'yaml';
  if (refusal !== undefined && !isOwn)
    notTaken.push({ pointer: '', reason: `${upstream} is not taken as upstream: ${refusal}` });
  const row = await tx((work: Tx) =>
    createScenario(work, { encryption, outbound }, workspace, {
      name,
      description,
      mode,
      seed,
      unmatched,
      upstream: refusal !== undefined && !isOwn ? null : upstream,
      upstreams,
      record: false,
      steps,
    }),
  );
  return { row, notTaken };
}

async function refusing<T>(field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FormatError) throw invalidField(field, error.message);
    throw error;
  }
}
