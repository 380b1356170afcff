import { parseArgs } from 'node:util';
import { migrate } from '../domain/migrate.ts';
import { readEnvironment } from '../domain/shared/config.ts';
import { exitWith, OperatorError } from './operator-error.ts';

const OPTIONS = { 'service-login': { type: 'string' } } as const;

/** `npm run migrate -- --service-login quayside_service`: that login may then serve; it exists already. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const { DATABASE_URL: databaseUrl } = readEnvironment(process.env);
  if (databaseUrl === undefined) {
    throw new OperatorError(
      'The environment variable DATABASE_URL is missing: it names the database to migrate, as the owner of its schema.',
    );
  }
  const serviceLogin = values['service-login'];
  const applied = await migrate(databaseUrl, { ...(serviceLogin !== undefined && { serviceLogin }) }).catch(
    (error: unknown) => {
      throw new OperatorError(`Migration failed: ${(error as Error).message}`);
    },
  );
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`);
}

try {
  await main();
} catch (error) {
  exitWith(error);
}
