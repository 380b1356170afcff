import { type ContentFacts, inOrder, isEffective, type StoredReport } from './deployed-rules.ts';
import { type Packages, versionOf } from './report-rules.ts';

/** A report to an environment of a content's domain, or of one of its packages. */
export interface SoakReport extends StoredReport {
  domain: string;
  /** When the service knew what it says: the later of `deployedAt` and its receipt, or of the rollback to it. */
  knownAt: number;
  /** When the service knew that it was taken back; null: it was not. */
  takenBackAt: number | null;
}

/**
 * Since when a content is in use in an environment without interruption, as far as the service knows, in milliseconds
 * since the epoch; null: it is not. It begins when the last of its packages came, and is ended by another installation of
 * its domain, by another version of one of its packages, by a failure of its own, and by a rollback. What was taken back
 * of others interrupts it until then.
 * @param reports to the environment: of its domain, and others that installed one of its packages.
 */
export function inUseSince(content: ContentFacts & { domain: string }, reports: readonly SoakReport[]): number | null {
  const { candidateId, contentDigest, domain, artifacts } = content;
  const arrived = new Set<string>();
  const replaced = new Set<string>();
  let isRunning = false;
  let since = 0;
  for (const report of inOrder(reports)) {
    const isOwn = report.candidateId === candidateId && report.contentDigest === contentDigest;
    const { own, others } = partsOf(report.installed, artifacts);
    if (isOwn && (report.status === 'Failed' || report.takenBackAt !== null)) {
      isRunning = false;
      arrived.clear();
    }
    if (!isOwn && report.takenBackAt !== null && (report.domain === domain || others.length > 0))
      since = Math.max(since, report.takenBackAt);
    if (!isEffective(report)) continue;
    for (const name of others) replaced.add(name);
    for (const name of own) replaced.delete(name);
    if (others.length > 0 || (!isOwn && report.domain === domain)) {
      isRunning = false;
      arrived.clear();
      continue;
    }
    if ((isOwn && !isRunning) || own.some((name) => !arrived.has(name))) since = Math.max(since, report.knownAt);
    for (const name of own) arrived.add(name);
    if (isOwn) isRunning = true;
  }
  return isRunning && replaced.size === 0 ? since : null;
}

/** The packages of a content that a report installed: in its versions, and in others. */
function partsOf(installed: Packages, artifacts: Packages): { own: readonly string[]; others: readonly string[] } {
  const names = Object.keys(installed);
  if (installed === artifacts) return { own: names, others: [] };
  const own: string[] = [];
  const others: string[] = [];
  for (const name of names) {
    const version = versionOf(artifacts, name);
    if (version !== undefined) (version === installed[name] ? own : others).push(name);
  }
  return { own, others };
}
