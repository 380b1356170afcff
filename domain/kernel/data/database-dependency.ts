import { type Kysely, sql } from 'kysely';
import type { Dependency } from '../system/outages.ts';
import { causes, isDatabaseAway } from './database-trouble.ts';

export const databaseDependency = (db: Kysely<never>): Dependency => ({
  name: 'postgresql',
  title: 'PostgreSQL',
  meanwhile: 'requests get 503, and work waits',
  check: () => sql`select 1`.execute(db),
  mayExplain: (error) => causes(error).some(isDatabaseAway),
});
