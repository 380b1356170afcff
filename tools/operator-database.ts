import { resolve } from 'node:path';
import { readEnvironment } from '../domain/kernel/settings/config.ts';
import { DomainError } from '../domain/kernel/shared/errors.ts';
import { embeddedDatabaseUrl } from './embedded-postgres.ts';
import { OperatorError } from './operator-error.ts';

/**
 * How an operator's command reaches the database: as the role that passes every fence, which the owner of the schema
 * may take on.
 */
export const operatorAccess = (databaseUrl: string, env = process.env) => ({
  databaseUrl,
  role: `${env.DATABASE_APP_ROLE || 'quayside_app'}_operator`,
  poolSize: 2,
});

/** The folder in which `npm start` keeps its data. */
export const dataDirOf = (env: NodeJS.ProcessEnv): string => resolve(env.DATA_DIR || '.data');

/** The database that an operator's command works on: that of DATABASE_URL, else the running one of DATA_DIR. */
export function operatorDatabaseUrl(env: NodeJS.ProcessEnv): string {
  const dataDir = dataDirOf(env);
  const url = readEnvironment(env).DATABASE_URL ?? embeddedDatabaseUrl(dataDir);
  if (url && !/^postgres(ql)?:\/\/[^/]+\/[^/]+/.test(url))
    throw new OperatorError('DATABASE_URL must look like postgres://user:password@host:5432/database.');
  if (!url)
    throw new OperatorError(
      `No database: set DATABASE_URL, or start the service with npm start so that DATA_DIR (${dataDir}) has one.`,
    );
  return url;
}

/** An error of the database or of its connection, as a sentence that says what to set or do. */
export function asOperatorError(error: unknown, url: string, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof Error) || error instanceof DomainError || error instanceof OperatorError) return error;
  const { code = '' } = error as { code?: string };
  if (/^(ECONN|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|57P03)/.test(code) || /timeout|terminated|ECONN/i.test(error.message)) {
    const where = readEnvironment(env).DATABASE_URL ? `that DATABASE_URL names (${new URL(url).host})` : 'of DATA_DIR';
    return new OperatorError(`The database ${where} does not answer; is it running?`);
  }
  if (/^(28|3D000)/.test(code))
    return new OperatorError(`The database refuses the address in DATABASE_URL: ${error.message}.`);
  if (code === '22023' && /role/.test(error.message))
    return new OperatorError('The database is not at this version yet: run npm run migrate first.');
  if (code === '42501')
    return new OperatorError(
      `The login in DATABASE_URL may not do that: operators' commands need the owner of the schema (${error.message}).`,
    );
  if (code === '42P01') return new OperatorError('The database has no tables yet: run npm run migrate first.');
  return error;
}
