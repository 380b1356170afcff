import { Connection } from '@temporalio/client';
import pg from 'pg';
import { OperatorError } from './operator-error.ts';
import { accepts } from './ports.ts';

/** Once somebody accepts connections; on a busy machine an answer takes long. */
const ANSWER_MS = 20_000;
/** The port of an address that names none. */
const ENGINE_PORT = '7233';

/** Throws `OperatorError` when the database that DATABASE_URL names does not let us in. */
export async function checkDatabase(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: ANSWER_MS });
  try {
    await client.connect();
  } catch (error) {
    throw new OperatorError(
      `The database that DATABASE_URL names (${hostOf(databaseUrl)}) cannot be used: ${reasonOf(error)}.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Throws `OperatorError` when nobody accepts connections there: the client of the engine would go on trying. */
export async function checkEngineListens(address: string, sentence: string): Promise<void> {
  const [, host = address, port = ENGINE_PORT] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  if (!(await accepts(host, Number(port)))) throw new OperatorError(sentence);
}

/** Throws `OperatorError` when the engine that TEMPORAL_ADDRESS names does not answer or lacks the namespace. */
export async function checkEngine(address: string, namespace: string): Promise<void> {
  const noAnswer = `The workflow engine that TEMPORAL_ADDRESS names (${address}) does not answer.`;
  await checkEngineListens(address, noAnswer);
  const connection = Connection.lazy({ address, connectTimeout: ANSWER_MS });
  try {
    await connection.withDeadline(Date.now() + ANSWER_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    const isMissing = /not found/i.test((error as { details?: string }).details ?? '');
    throw new OperatorError(
      isMissing
        ? `The workflow engine that TEMPORAL_ADDRESS names (${address}) has no namespace ${namespace}: make it, or set TEMPORAL_NAMESPACE.`
        : noAnswer,
    );
  } finally {
    await connection.close();
  }
}

const hostOf = (url: string): string => {
  try {
    return new URL(url).host;
  } catch {
    return 'malformed';
  }
};

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return (message || code || 'no answer').replace(/\.$/, '');
}
