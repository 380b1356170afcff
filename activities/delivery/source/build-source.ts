import { createHash } from 'node:crypto';
import type { Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { projectById } from '../../../domain/projects/projects/projects.queries.ts';
import { changedUnits, directoryOf, withoutTwins } from '../../../domain/delivery/source/delta-rules.ts';
import {
  chosenPackages,
  packageFinder,
  replacementWarnings,
  whyReadOtherwise,
} from '../../../domain/delivery/source/project-file-rules.ts';
import type {
  ComponentName,
  SourceBuild,
  SourceOrder,
  SourceRefusal,
} from '../../../domain/delivery/source/source-build.port.ts';
import type { SourceUnit } from '../../../domain/delivery/source/source-converter.port.ts';
import { looseWarning, whyTooMuchToDeploy } from '../../../domain/delivery/source/source-file-rules.ts';
import { objectKey } from '../../../domain/kernel/objects/object-key-rules.ts';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { remoteOf } from '../../code/git/fetched-commits.ts';
import type { Deps } from '../../deps.ts';
import { planDeletions } from './plan-deletions.ts';
import { type CommitSource, readCommit, Refused, type SourceDeps, type SourceWork, valueOf } from './read-commit.ts';
import { storeZip } from './store-zip.ts';

/**
 * Makes what a deployment of a commit takes: what changed since what the environment ran, or all of it. Safe to be called
 * again with the same order. Rejects when something is away, such as the object store, and when the signal ends it.
 */
export const buildSource = (
  deps: SourceDeps & Pick<Deps, 'actingAs' | 'reads' | 'encryption'>,
  order: SourceOrder,
  signal: AbortSignal,
): Promise<Answer<SourceBuild, SourceRefusal>> =>
  answering(async () => buildFromRemote(deps, order, await remoteOfOrder(deps, order), signal));

/** As `buildSource` does, from a repository whose address is known. */
export const buildFromRemote = (
  deps: SourceDeps,
  order: SourceOrder,
  remote: Remote,
  signal: AbortSignal,
): Promise<Answer<SourceBuild, SourceRefusal>> =>
  answering(async () => {
    await assertFetched(deps, order, remote, signal);
    const place = await deps.source.converter.open(signal);
    try {
      const mirror = { tenantId: order.tenantId, projectId: order.projectId };
      return { isOk: true, value: await build({ deps, order, mirror, remote, place, signal, warnings: [] }) };
    } finally {
      await place.close();
    }
  });

async function answering<Value>(
  work: () => Promise<Answer<Value, SourceRefusal>>,
): Promise<Answer<Value, SourceRefusal>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return { isOk: false, reason: error.message };
    throw error;
  }
}

async function remoteOfOrder(
  { reads, actingAs, encryption }: Pick<Deps, 'actingAs' | 'reads' | 'encryption'>,
  order: SourceOrder,
): Promise<Remote> {
  const { projectId } = order;
  const actor = systemActor(order, 'source');
  const project = await projectById(reads.as(actor), projectId);
  if (!project) throw new Refused('The project was removed');
  const { platform, identifier: repositoryIdentifier } = project;
  const remoteUrl = project.remoteUrl ?? undefined;
  if (remoteUrl === undefined) throw new Refused(`The project ${repositoryIdentifier} has no remoteUrl`);
  const of = { projectId, platform, remoteUrl, repositoryIdentifier };
  return remoteOf(actingAs(actor), encryption, of);
}

/** Fetches the repository when its mirror lacks one of the commits. */
async function assertFetched(
  { git: { mirrors } }: SourceDeps,
  { commitSha, baseSha, tenantId, projectId }: SourceOrder,
  remote: Remote,
  signal: AbortSignal,
): Promise<void> {
  const mirror = { tenantId, projectId };
  const wanted = baseSha === null ? [commitSha] : [commitSha, baseSha];
  const present = await mirrors.present(mirror, wanted).catch(() => new Set<string>());
  if (wanted.every((sha) => present.has(sha))) return;
  const fetched = await mirrors.fetch(mirror, remote, signal);
  if (present.has(commitSha)) return;
  if (fetched.outcome === 'failed') throw new Refused(`The repository could not be fetched: ${fetched.reason}`);
  if (!(await mirrors.present(mirror, [commitSha])).has(commitSha))
    throw new Refused(`The repository has no commit ${commitSha}`);
}

const short = (sha: string): string => sha.slice(0, 8);

async function build(work: SourceWork): Promise<SourceBuild> {
  const { order, warnings } = work;
  if (order.replacements?.some(({ find }) => find === '')) throw new Refused('A replacement has no text to find');
  const head = valueOf(await readCommit(work, 'head', order.commitSha));
  const chosen = chosenPackages(head.project, order.packages);
  if (typeof chosen === 'string') throw new Refused(chosen);
  warnings.push(...replacementWarnings(head.project, order.replacements ?? []), ...looseWarning(head.loose));
  const { base, whyWhole, isRelated } = await compare(work, head);
  const before = base ? chosenPackages(base.project, order.packages) : [];
  const packages = [...chosen, ...(typeof before === 'string' ? [] : before)];
  const directories = new Set(packages.map(({ directory }) => directory));
  const isChosen = ({ path }: SourceUnit) => directoryOf(directories, path) !== undefined;
  const wanted = base && whyWhole === undefined ? changedUnits(head, base) : head.units;
  const { units, twins } = withoutTwins(wanted.filter(isChosen));
  for (const { type, fullName } of twins)
    warnings.push(`${type} ${fullName} is in several packages: that of the last one is deployed`);
  const gone = await planDeletions(work, {
    head,
    base: base && { ...base, units: base.units.filter(isChosen) },
    units,
    areMade: order.deletions && isRelated,
  });
  return convert(work, head, { units, whyWhole, comparedWith: base?.sha ?? null, ...gone });
}

interface Comparison {
  /** What the environment ran, where it can be read. */
  base?: CommitSource;
  /** Why what differs from it is not enough. */
  whyWhole?: string;
  /** What it lacks was removed since, and not on another branch. */
  isRelated: boolean;
}

async function compare(work: SourceWork, head: CommitSource): Promise<Comparison> {
  const { commitSha, baseSha, isRollback = false, whole = false, hasOtherSettings = false } = work.order;
  const { mirrors } = work.deps.git;
  if (baseSha === null) return { whyWhole: 'It is not known what the environment ran', isRelated: true };
  const ran = `${short(baseSha)}, which the environment ran,`;
  if (!(await mirrors.present(work.mirror, [baseSha])).has(baseSha))
    return { whyWhole: `The repository no longer has ${ran.slice(0, -1)}`, isRelated: false };
  const base = await readCommit(work, 'base', baseSha);
  if (!base.isOk) return { whyWhole: `${ran} cannot be read: ${base.reason}`, isRelated: false };
  const [earlier, later] = isRollback ? [commitSha, baseSha] : [baseSha, commitSha];
  const isRelated = await mirrors.isAncestor(work.mirror, earlier, later);
  const unrelated = `${short(earlier)} is not an ancestor of ${short(later)}`;
  const whyUnsafe = !isRelated
    ? unrelated
    : hasOtherSettings
      ? 'The environment has other replacements or ignored paths than before'
      : whyReadOtherwise(head, base.value);
  const whyWhole = whole ? 'All of the source was asked for' : whyUnsafe;
  return { base: base.value, ...(whyWhole !== undefined && { whyWhole }), isRelated };
}

interface Plan {
  units: SourceUnit[];
  whyWhole: string | undefined;
  comparedWith: string | null;
  deletions: ComponentName[];
  pending: ComponentName[];
  undeletable: ComponentName[];
}

async function convert(
  { deps, order, place, warnings }: SourceWork,
  { project }: CommitSource,
  { units, whyWhole, pending: pendingDeletions, ...plan }: Plan,
): Promise<SourceBuild> {
  const { comparedWith, deletions, undeletable } = plan;
  const packageOf = packageFinder(project);
  const components = units.map(({ type, fullName, path }) => ({ type, fullName, path, package: packageOf(path) }));
  const ran = order.baseSha === null ? 'nothing' : short(order.baseSha);
  if (units.length + deletions.length === 0) {
    const reason = whyWhole ?? `Nothing to deploy differs from ${ran}, which the environment ran`;
    const nothing = { object: null, bytes: 0, form: 'nothing', reason } as const;
    return { ...nothing, components, deletions, pendingDeletions, undeletable, comparedWith, warnings };
  }
  const { replacements = [], apiVersion } = order;
  const ids = units.map(({ id }) => id);
  const converted = valueOf(await place.convert({ units: ids, deletions, replacements, apiVersion }));
  const { files } = converted;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const tooMuch = whyTooMuchToDeploy({ files: files.length, bytes });
  if (tooMuch !== undefined) throw new Refused(tooMuch);
  const name = createHash('sha256').update(JSON.stringify(order)).digest('hex');
  const object = objectKey(order.tenantId, 'source-builds', `${name}.zip`);
  const stored = valueOf(await storeZip(deps.objects, object, files));
  return {
    object,
    bytes: stored,
    components,
    deletions,
    pendingDeletions,
    undeletable,
    comparedWith,
    form: whyWhole === undefined ? 'delta' : 'whole',
    reason: whyWhole ?? `It is what differs from ${ran}, which the environment ran`,
    warnings: [...warnings, ...converted.warnings],
  };
}
