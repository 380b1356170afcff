import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Dependencies } from './install-order-rules.ts';
import type { PackageDefinition } from './package-rules.ts';

export interface KnownPackage extends PackageDefinition {
  packageNo: number;
}

const packagesOf = ({ db, tenantId }: Reads, projectId: string) =>
  db.selectFrom('git_package').where('tenantId', '=', tenantId).where('projectId', '=', projectId);

/** The packages that a project has now, by number. */
export const currentPackages = (reads: Reads, projectId: string): Promise<KnownPackage[]> =>
  packagesOf(reads, projectId)
    .where('isCurrent', '=', true)
    .orderBy('packageNo')
    .select(['packageNo', 'name', 'path', 'versionNumber', 'dependencies'])
    .execute();

/** The first number that no package of the project ever had. */
export async function nextPackageNo(reads: Reads, projectId: string): Promise<number> {
  const { next } = await packagesOf(reads, projectId)
    .select(sql<number>`coalesce(max(package_no) + 1, 0)`.as('next'))
    .executeTakeFirstOrThrow();
  return next;
}

/** What packages depend on. @param packages by name. */
export const dependenciesOf = (packages: ReadonlyMap<string, Pick<PackageDefinition, 'dependencies'>>): Dependencies =>
  new Map([...packages].map(([name, { dependencies }]) => [name, dependencies]));

/** What the packages of a project depend on. */
export const currentDependencies = async (reads: Reads, projectId: string): Promise<Dependencies> =>
  dependenciesOf(new Map((await currentPackages(reads, projectId)).map((each) => [each.name, each])));
