import type { CommitLine, MirrorOf, Ref, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import {
  addCommits,
  type NewCommitFacts,
  noteAttribution,
  setMentions,
} from '../../../domain/code/git/mirror/import.mutations.ts';
import { commitMessages } from '../../../domain/code/git/commits.queries.ts';
import { bumpRevision, type FetchedProject } from '../../../domain/code/git/mirror/mirror.queries.ts';
import { currentPackages, type KnownPackage } from '../../../domain/code/git/packages.queries.ts';
import { currentRefs, replaceRefs } from '../../../domain/code/git/mirror/refs.queries.ts';
import {
  type KeyFinder,
  MESSAGE_RULES,
  pullRequestsIn,
  workItemFilters,
  workItemsIn,
} from '../../../domain/projects/work-items/work-item-rules.ts';
import { keyFinders } from '../../../domain/projects/work-items/work-item-patterns.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import { changesOf, importPackages } from './import-packages.ts';

/** Commits of one transaction: bounds its time, and what is repeated after a crash. */
const CHUNK = 2_000;

/**
 * Writes what is new in a mirror to rows. Every step adds or replaces, so that it can be interrupted anywhere and
 * retried; the refs come last, since the next import begins at them.
 */
export async function importFacts(
  deps: Deps,
  mirror: MirrorOf & TenantKey,
  project: FetchedProject,
  remote: Remote,
): Promise<void> {
  const { mirrors } = deps.git;
  const tx = deps.actingAs(systemActor(mirror, 'git-mirror'));
  const refs = await mirrors.refs(mirror);
  const filters = workItemFilters(project.configuration);
  await bringMentionsUpToDate(deps, mirror, project, filters);
  await importPackages(deps, mirror, project, refs, remote);
  const known = await tx((work) => currentRefs(work, mirror.projectId));
  const packages = await tx((work) => currentPackages(work, mirror.projectId));
  const shasOf = (some: readonly Ref[]) => [...new Set(some.map(({ sha }) => sha))];
  const knownShas = new Set(shasOf(known));
  const tips = shasOf(refs).filter((sha) => !knownShas.has(sha));
  const lines = await mirrors.newCommits(mirror, tips, [...knownShas]);
  const finders = keyFinders(filters);
  for (let at = 0; at < lines.length; at += CHUNK)
    await importChunk(deps, mirror, lines.slice(at, at + CHUNK), packages, finders);
  await tx(async (work) => {
    if (await replaceRefs(work, mirror.projectId, refs)) await bumpRevision(work, mirror.projectId);
  });
}

async function importChunk(
  deps: Deps,
  mirror: MirrorOf & TenantKey,
  lines: readonly CommitLine[],
  packages: readonly KnownPackage[],
  finders: readonly KeyFinder[],
) {
  const texts = await deps.git.mirrors.commits(
    mirror,
    lines.map(({ sha }) => sha),
  );
  const parentsOf = new Map(lines.map(({ sha, parents }) => [sha, parents]));
  const commits = texts.map(
    ({ sha, authorName, authorEmail, authoredAt, committedAt, subject, body }): NewCommitFacts => ({
      sha,
      parents: parentsOf.get(sha) ?? [],
      authorName,
      authorEmail,
      authoredAt: isoOf(authoredAt),
      committedAt: isoOf(committedAt),
      subject,
      body,
      workItems: workItemsIn(`${subject}\n\n${body}`, finders),
      pullRequests: pullRequestsIn(subject, body),
    }),
  );
  const changes = await changesOf(deps, mirror, lines, packages);
  await deps.actingAs(systemActor(mirror, 'git-mirror'))((work) =>
    addCommits(work, mirror.projectId, commits, changes.byPackage),
  );
}

/** Reads the messages of imported commits anew where that makes a difference. */
async function bringMentionsUpToDate(
  deps: Deps,
  mirror: MirrorOf & TenantKey,
  { defaultBranch, ...project }: FetchedProject,
  filters: readonly string[],
): Promise<void> {
  const areMentionsCurrent =
    project.messageRules === MESSAGE_RULES && JSON.stringify(filters) === JSON.stringify(project.workItemFilters);
  if (areMentionsCurrent && project.attributedBranch === defaultBranch) return;
  if (!areMentionsCurrent) await readMessagesAnew(deps, mirror, filters);
  const basis = { workItemFilters: filters, attributedBranch: defaultBranch, messageRules: MESSAGE_RULES };
  await deps.actingAs(systemActor(mirror, 'git-mirror'))((work) => noteAttribution(work, mirror.projectId, basis));
}

async function readMessagesAnew(
  deps: Deps,
  { projectId, ...tenant }: MirrorOf & TenantKey,
  filters: readonly string[],
): Promise<void> {
  const tx = deps.actingAs(systemActor(tenant, 'git-mirror'));
  const finders = keyFinders(filters);
  for (let seq = 0; ; ) {
    const start = seq;
    const messages = await tx((work) => commitMessages(work, projectId, start, CHUNK));
    if (messages.length === 0) return;
    const mentions = messages.map(({ seq: commit, subject, body }) => ({
      seq: commit,
      workItems: workItemsIn(`${subject}\n\n${body}`, finders),
      pullRequests: pullRequestsIn(subject, body),
    }));
    await tx((work) => setMentions(work, projectId, mentions));
    seq += messages.length;
  }
}

/** The last second of the year 9999: what git takes for later dates, ISO 8601 cannot say. */
const LAST_SECOND = 253_402_300_799;
const isoOf = (seconds: number): string =>
  new Date(Math.min(Math.max(0, seconds || 0), LAST_SECOND) * 1_000).toISOString();
