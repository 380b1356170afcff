import { hashSecret, newRunToken } from '../../kernel/encryption/secrets.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Tx } from '../../unit-of-work.ts';
import { commandOf, type Commands } from './programs/commands-file.ts';
import type { RunOutcome } from './flow-runs.mutations.ts';
import type { RunContext } from './flow-runs.queries.ts';

/** A command is ended this long after its time limit at the latest. */
const SPARE_MS = 60_000;

/**
 * Makes the token with which the command of a run reports; one that it had is refused from now on. The secret is given
 * to the program and kept nowhere: the row has its hash.
 */
export async function mintRunToken(
  { db, tenantId, now }: Tx,
  { id: runId, taskType }: Pick<RunContext, 'id' | 'taskType'>,
  commands: Commands,
): Promise<string> {
  const token = newRunToken();
  const { timeoutSeconds = 0 } = commandOf(commands, taskType) ?? {};
  const secret = {
    tokenHash: hashSecret(token),
    expiresAt: new Date(now.getTime() + timeoutSeconds * 1_000 + SPARE_MS),
  };
  await db
    .insertInto('run_token')
    .values({ tenantId, runId, ...secret })
    .onConflict((conflict) => conflict.columns(['tenantId', 'runId']).doUpdateSet(secret))
    .execute();
  return token;
}

const END = statement<{ tenantId: string; runId: string }>()((db, { tenantId, runId }) =>
  db
    .with('ended', (inner) =>
      inner.deleteFrom('run_token').where('tenantId', '=', tenantId).where('runId', '=', runId).returning('runId'),
    )
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', runId)
    .select('reportedEnd'),
);

/** Ends the token of a run whose command has ended; answers how the command reported by it that the run ends. */
export async function endRunToken({ db, tenantId }: Tx, runId: string): Promise<RunOutcome | null> {
  const [run] = await END(db, { tenantId, runId });
  return run?.reportedEnd ?? null;
}
