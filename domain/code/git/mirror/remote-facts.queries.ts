import { sql } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { statement } from '../../../kernel/data/statement.ts';
import { packagesOfSetting, type PackagesFrom } from '../package-rules.ts';
import { listBranches } from './refs.queries.ts';

const FACTS = statement<{ tenantId: string; projectId: string; defaultBranch: string }>()(
  (_, { tenantId, projectId, defaultBranch }) => sql<{
    fetchedAt: string | null;
    error: string | null;
    packagesFrom: PackagesFrom;
    hasDefaultBranch: boolean;
  }>`
  select m.fetched_at as "fetchedAt", m.error, m.packages_from as "packagesFrom",
    exists (select from git_ref r where r.tenant_id = m.tenant_id and r.project_id = m.project_id and r.kind = 'branch'
      and r.name = ${defaultBranch}) as "hasDefaultBranch"
  from git_mirror m where m.tenant_id = ${tenantId} and m.project_id = ${projectId}`,
);

/** Packages that no commit has touched. */
const untouchedPackages = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('git_package as p')
    .where('p.tenantId', '=', tenantId)
    .where('p.projectId', '=', projectId)
    .where('p.isCurrent', '=', true)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('git_commit_package as c')
            .whereRef('c.tenantId', '=', 'p.tenantId')
            .whereRef('c.projectId', '=', 'p.projectId')
            .whereRef('c.packageNo', '=', 'p.packageNo')
            .select(sql.lit(1).as('one')),
        ),
      ),
    )
    .orderBy('p.name')
    .select(['p.name', 'p.path'])
    .execute();

interface Declared {
  id: string;
  defaultBranch: string;
  configuration: { packagePaths?: Record<string, string> };
}

/** What the last fetches of a project's remote found of what the project says; undefined if none was requested. */
export async function remoteFacts(reads: Reads, { id, defaultBranch, configuration }: Declared) {
  const { db, tenantId } = reads;
  const [facts] = await FACTS(db, { tenantId, projectId: id, defaultBranch });
  if (!facts) return undefined;
  const { packagesFrom, ...rest } = facts;
  const { packagePaths = {} } = configuration;
  const hasFacts = facts.fetchedAt !== null;
  const isDeclared = Object.keys(packagePaths).length > 0;
  // The setting may have changed since the last fetch.
  const isAsFetched = hasFacts && packagesFrom === (isDeclared ? 'setting' : 'manifest');
  const declared = new Map(packagesOfSetting(packagePaths).map(({ name, path }) => [name, path]));
  const untouched = isAsFetched ? await untouchedPackages(reads, id) : [];
  return {
    ...rest,
    branches: hasFacts && !facts.hasDefaultBranch ? (await listBranches(reads, id)).map(({ name }) => name) : [],
    emptyPackages: isDeclared ? untouched.filter(({ name, path }) => declared.get(name) === path) : untouched,
    areFromManifest: !isDeclared,
  };
}
