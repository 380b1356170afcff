import { migrate } from '../domain/migrate.ts';

const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) {
  process.stderr.write(
    'The environment variable DATABASE_URL is missing: it names the database to migrate, as the owner of its schema.\n',
  );
  process.exit(1);
}
try {
  const applied = await migrate(databaseUrl);
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`);
} catch (error) {
  process.stderr.write(`Migration failed: ${(error as Error).message}\n`);
  process.exit(1);
}
