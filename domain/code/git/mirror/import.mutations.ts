import { sql } from 'kysely';
import { batch, insertBatch } from '../../../kernel/data/batches.ts';
import { isOneOfNumbers } from '../../../kernel/data/conditions.ts';
import { json } from '../../../kernel/data/columns.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { commitNumbers } from '../commits.queries.ts';
import { bumpRevision, lockMirror } from './mirror.queries.ts';
import { currentPackages, type KnownPackage, nextPackageNo } from '../packages.queries.ts';
import { type PackageDefinition, packagesNotIn } from '../package-rules.ts';
import type { ParentBits } from '../graph/revision-walk-rules.ts';

export interface NewCommitFacts {
  sha: string;
  parents: readonly string[];
  authorName: string;
  authorEmail: string;
  /** ISO 8601. */
  authoredAt: string;
  committedAt: string;
  subject: string;
  body: string;
  workItems: string[];
  pullRequests: number[];
}

/** Package to commit to the bits of the parents from which it differs. */
type ChangesByPackage = ReadonlyMap<number, ReadonlyMap<number, ParentBits>>;

/**
 * Adds commits after those that are imported; parents come before children, among them or imported already. Those that
 * are imported are left out, so that retrying is safe.
 * @param changes by the places of the commits among those added.
 */
export async function addCommits(
  tx: Tx,
  projectId: string,
  commits: readonly NewCommitFacts[],
  changes: ChangesByPackage,
): Promise<void> {
  const mirror = await lockMirror(tx, projectId);
  if (!mirror) return;
  const { db, tenantId } = tx;
  const mentioned = commits.flatMap(({ sha, parents }) => [sha, ...parents]);
  const seqOf = await commitNumbers(tx, projectId, mentioned);
  const rows: (Omit<NewCommitFacts, 'parents'> & { seq: number; parents: number[] })[] = [];
  const seqOfPlace = new Map<number, number>();
  for (const [place, { sha, parents, ...facts }] of commits.entries()) {
    if (seqOf.has(sha)) continue;
    const seq = mirror.commits + rows.length;
    seqOf.set(sha, seq);
    seqOfPlace.set(place, seq);
    // A parent that a shallow remote does not have is none.
    rows.push({ seq, sha, parents: parents.flatMap((parent) => seqOf.get(parent) ?? []), ...facts });
  }
  if (rows.length === 0) return;
  await insertBatch(db, 'git_commit', { tenantId, projectId }, rows, {
    seq: 'int',
    sha: 'text',
    parents: 'int[]',
    authorName: 'text',
    authorEmail: 'text',
    authoredAt: 'timestamptz',
    committedAt: 'timestamptz',
    subject: 'text',
    body: 'text',
    workItems: 'text[]',
    pullRequests: 'int[]',
  }).execute();
  await addChanges(tx, projectId, changes, (place) => seqOfPlace.get(place));
  await db
    .updateTable('git_mirror')
    .set((eb) => ({ commits: mirror.commits + rows.length, revision: eb('revision', '+', '1') }))
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .execute();
}

/** @param seqOf the number of a commit of `changes`; undefined for one that is to be left out. */
async function addChanges(
  { db, tenantId }: Tx,
  projectId: string,
  changes: ChangesByPackage,
  seqOf: (commit: number) => number | undefined,
): Promise<void> {
  const rows = [...changes].flatMap(([packageNo, ofPackage]) =>
    [...ofPackage].flatMap(([commit, bits]) => {
      const seq = seqOf(commit);
      return seq === undefined ? [] : [{ packageNo, seq, parentBits: String(bits) }];
    }),
  );
  if (rows.length === 0) return;
  const types = { packageNo: 'int', seq: 'int', parentBits: 'bigint' };
  await insertBatch(db, 'git_commit_package', { tenantId, projectId }, rows, types)
    .onConflict((conflict) => conflict.columns(['tenantId', 'projectId', 'packageNo', 'seq']).doNothing())
    .execute();
}

/** Numbers for packages that are not known yet, which nobody else gets. */
export async function reservePackageNumbers(
  tx: Tx,
  projectId: string,
  packages: readonly PackageDefinition[],
): Promise<KnownPackage[]> {
  await lockMirror(tx, projectId);
  const next = await nextPackageNo(tx, projectId);
  return packages.map((each, index) => ({ ...each, packageNo: next + index }));
}

/**
 * Makes the packages of a project those that are wanted. Those with new numbers come with their changes in all commits
 * (by number); the others are removed.
 */
export async function replacePackages(
  tx: Tx,
  projectId: string,
  wanted: readonly PackageDefinition[],
  added: readonly KnownPackage[],
  changes: ChangesByPackage,
): Promise<void> {
  const { db, tenantId } = tx;
  await lockMirror(tx, projectId);
  const retired = packagesNotIn(wanted, await currentPackages(tx, projectId));
  await retirePackages(
    tx,
    projectId,
    retired.map(({ packageNo }) => packageNo),
  );
  const types = { packageNo: 'int', name: 'text', path: 'text', versionNumber: 'text', dependencies: 'text[]' };
  await insertBatch(db, 'git_package', { tenantId, projectId }, added, types).execute();
  await db
    .updateTable('git_package as p')
    .from(batch('w', wanted, { name: 'text', path: 'text', versionNumber: 'text', dependencies: 'text[]' }))
    .set((eb) => ({ versionNumber: eb.ref('w.versionNumber'), dependencies: eb.ref('w.dependencies') }))
    .where('p.tenantId', '=', tenantId)
    .where('p.projectId', '=', projectId)
    .where('p.isCurrent', '=', true)
    .whereRef('p.name', '=', 'w.name')
    .where(sql<boolean>`(p.version_number, p.dependencies) is distinct from (w.version_number, w.dependencies)`)
    .execute();
  await addChanges(tx, projectId, changes, (seq) => seq);
  await bumpRevision(tx, projectId);
}

/** Removes packages, with what was computed for them. */
async function retirePackages({ db, tenantId }: Tx, projectId: string, packages: readonly number[]): Promise<void> {
  if (packages.length === 0) return;
  await db
    .updateTable('git_package')
    .set({ isCurrent: false })
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where((eb) => isOneOfNumbers(eb, 'packageNo', packages))
    .execute();
  await db
    .deleteFrom('git_commit_package')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where((eb) => isOneOfNumbers(eb, 'packageNo', packages))
    .execute();
  await db
    .deleteFrom('git_range')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where((eb) => isOneOfNumbers(eb, 'packageNo', packages))
    .execute();
}

/** Replaces what commits mention, by number. */
export async function setMentions(
  { db, tenantId }: Tx,
  projectId: string,
  mentions: readonly { seq: number; workItems: string[]; pullRequests: number[] }[],
): Promise<void> {
  await db
    .updateTable('git_commit as c')
    .from(batch('i', mentions, { seq: 'int', workItems: 'text[]', pullRequests: 'int[]' }))
    .set((eb) => ({ workItems: eb.ref('i.workItems'), pullRequests: eb.ref('i.pullRequests') }))
    .where('c.tenantId', '=', tenantId)
    .where('c.projectId', '=', projectId)
    .whereRef('c.seq', '=', 'i.seq')
    .where((eb) =>
      eb.or([eb('c.workItems', '<>', eb.ref('i.workItems')), eb('c.pullRequests', '<>', eb.ref('i.pullRequests'))]),
    )
    .execute();
}

/** What decides for what commits count, beside their messages. */
export interface AttributionBasis {
  workItemFilters: readonly string[];
  /** The default branch, whose merges into other branches bring nothing in. */
  attributedBranch: string;
  /** Version of the rules by which messages are read. */
  messageRules: number;
}

/** Records on what commits were attributed; ranges that were computed on another basis are removed. */
export async function noteAttribution(
  tx: Tx,
  projectId: string,
  { workItemFilters, attributedBranch, messageRules }: AttributionBasis,
): Promise<void> {
  const { db, tenantId } = tx;
  await db.deleteFrom('git_range').where('tenantId', '=', tenantId).where('projectId', '=', projectId).execute();
  await db
    .updateTable('git_mirror')
    .set((eb) => ({
      workItemFilters: json([...workItemFilters]),
      attributedBranch,
      messageRules,
      workItemsEpoch: eb('workItemsEpoch', '+', 1),
      revision: eb('revision', '+', '1'),
    }))
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .execute();
}
