import { parseArgs } from 'node:util';
import { migrate } from '../domain/migrate.ts';
import { readEnvironment } from '../domain/kernel/settings/config.ts';
import { exitWith, OperatorError } from './operator-error.ts';

const OPTIONS = { 'service-login': { type: 'string' }, 'browser-host-login': { type: 'string' } } as const;

/**
 * `npm run migrate -- --service-login quayside_service --browser-host-login quayside_browsers`: the one may then serve, the
 * other allocate browsers; both exist already.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const { DATABASE_URL: databaseUrl } = readEnvironment(process.env);
  if (databaseUrl === undefined) {
    throw new OperatorError(
      'The environment variable DATABASE_URL is missing: it names the database to migrate, as the owner of its schema.',
    );
  }
  const { 'service-login': serviceLogin, 'browser-host-login': browserHostLogin } = values;
  const { migrations, functions } = await migrate(databaseUrl, { serviceLogin, browserHostLogin }).catch(
    (error: unknown) => {
      throw new OperatorError(`Migration failed: ${(error as Error).message}`);
    },
  );
  if (migrations.length > 0) console.log(`Applied: ${migrations.join(', ')}`);
  if (functions.length > 0) console.log(`Functions made anew: ${functions.join(', ')}`);
  if (migrations.length + functions.length === 0) console.log('The schema is up to date.');
}

try {
  await main();
} catch (error) {
  exitWith(error);
}
