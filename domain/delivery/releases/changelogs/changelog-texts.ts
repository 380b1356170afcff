import { createHash } from 'node:crypto';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { TextCache } from '../../../kernel/caches/cache-memory.ts';
import { type ChangelogFacts, changelogOf } from './changelog.ts';
import type { ResolvedChange } from './resolved-changes.ts';

/** Changelogs as they are answered, kept in memory. */
export interface ChangelogTexts {
  kept: TextCache;
  /** A changelog as a JSON object. */
  write: (changelog: ChangelogFacts) => string;
}

/** The changelog of package changes as JSON. It is written once for the same facts: long ones take time. */
export async function changelogText(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  parts: readonly ResolvedChange[],
  { kept, write }: ChangelogTexts,
): Promise<string> {
  const { projectId, revision, workItemsEpoch, freshness } = history;
  const { workItems } = project.configuration;
  const facts = JSON.stringify([tx.tenantId, projectId, revision, workItemsEpoch, workItems, parts]);
  const key = `changelog ${createHash('sha256').update(facts).digest('base64')}`;
  let text = kept.get(key);
  if (text === undefined) {
    const { repository: _, ...changelog } = await changelogOf(tx, history, project, parts);
    text = write(changelog);
    kept.put(key, text);
  }
  return `${text.slice(0, -1)},"repository":${JSON.stringify(freshness)}}`;
}
