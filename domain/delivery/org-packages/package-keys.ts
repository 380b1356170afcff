import { findCredentials } from '../../projects/integrations/integrations.mutations.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import type { Tx } from '../../unit-of-work.ts';

/**
 * Installation keys of package versions, by id or alias: those of the integration of kind `package-keys`. They go into no step, output,
 * log or workflow.
 */
export async function packageKeys(
  tx: Tx,
  encryption: Encryption,
  { runId, projectId }: { runId: string; projectId: string | null },
): Promise<Readonly<Record<string, string>>> {
  const of = { kind: 'package-keys', projectId: projectId ?? undefined, purpose: `packages of run ${runId}` } as const;
  return (await findCredentials(tx, encryption, of))?.credentials.keys ?? {};
}
