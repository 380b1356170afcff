import fc from 'fast-check';
import type { ContentFacts, DeploymentFact, StoredReport } from '../../domain/delivery/deployments/deployed-rules.ts';

/** The facts of a deployment as their definition says them, computed anew for every moment. */
export function factByDefinition(content: ContentFacts, all: readonly StoredReport[]): DeploymentFact {
  const { candidateId, contentDigest, artifacts } = content;
  const reports = all.toSorted((a, b) =>
    a.deployedAt !== b.deployedAt
      ? a.deployedAt - b.deployedAt
      : a.receivedAt !== b.receivedAt
        ? a.receivedAt - b.receivedAt
        : a.id.localeCompare(b.id),
  );
  const isOwn = (each: StoredReport) => each.candidateId === candidateId && each.contentDigest === contentDigest;
  const installs = (each: StoredReport) => ['Success', 'Partial'].includes(each.status) && !each.isRolledBack;
  const names = Object.keys(artifacts).toSorted();

  const isCut = (each: StoredReport) => isOwn(each) && each.isRolledBack;
  /** Reports that count at a moment: of this content those since it was last rolled back. */
  const countedAt = (moment: number): StoredReport[] => {
    const until = reports.slice(0, moment + 1);
    const cut = until.findLastIndex(isCut);
    return until.filter((each, index) => installs(each) && (!isOwn(each) || index > cut));
  };
  const missingAt = (moment: number): string[] => {
    const until = countedAt(moment);
    const effective = reports.slice(0, moment + 1).filter(installs);
    return names.filter((name) => {
      const isThere = (each: StoredReport) => each.installed[name] === artifacts[name];
      const runsByAnother = effective.some(
        (each, index) =>
          each.candidateId !== candidateId &&
          isThere(each) &&
          effective.slice(index + 1).every((later) => later.installed[name] === undefined || isThere(later)),
      );
      return !until.some((each) => isOwn(each) && isThere(each)) && !runsByAnother;
    });
  };
  const hasBegun = (moment: number) =>
    countedAt(moment).some((each) => isOwn(each) && (names.length > 0 || each.status === 'Success'));
  const lastAt = (moment: number) =>
    reports.slice(0, moment + 1).findLast((each) => isOwn(each) && each.status !== 'Cancelled');
  const moments = reports.keys().toArray();
  const wasComplete = (moment: number) => {
    const cut = reports.slice(0, moment + 1).findLastIndex(isCut);
    return moments.slice(Math.max(cut, 0), moment + 1).some((each) => hasBegun(each) && missingAt(each).length === 0);
  };
  const isDeployed = (moment: number) => wasComplete(moment) && lastAt(moment)?.status !== 'Failed';

  const end = reports.length - 1;
  const hasOtherContent = reports.some(
    (each) => each.candidateId === candidateId && !isOwn(each) && ['Success', 'Partial'].includes(each.status),
  );
  if (end >= 0 && isDeployed(end)) {
    const before = moments.findLast((each) => !isDeployed(each)) ?? -1;
    const since = reports[before + 1]?.deployedAt ?? 0;
    return { isDeployed: true, deployedAt: new Date(since).toISOString(), reason: null, packages: [], hasOtherContent };
  }
  const last = lastAt(end);
  const reason =
    last === undefined
      ? hasOtherContent
        ? 'other_content'
        : 'never'
      : last.status === 'Failed'
        ? 'failed'
        : last.isRolledBack
          ? 'rolled_back'
          : 'partial';
  const packages = end >= 0 && wasComplete(end) ? [] : hasBegun(end) ? missingAt(end) : names;
  return { isDeployed: false, deployedAt: null, reason, packages, hasOtherContent };
}

const PACKAGES = ['a', 'b', 'c'];
const versions = fc.constantFrom('1', '2');
export const artifactsOf: fc.Arbitrary<Record<string, string>> = fc.dictionary(fc.constantFrom(...PACKAGES), versions, {
  noNullPrototype: true,
});

/** Who reports: two contents of a candidate, two other candidates, or one that was removed. */
const WHO = [
  { candidateId: 'own', contentDigest: 'now' },
  { candidateId: 'own', contentDigest: 'before' },
  { candidateId: 'second', contentDigest: 'second' },
  { candidateId: 'third', contentDigest: 'third' },
  { candidateId: null, contentDigest: 'removed' },
];
const START = Date.UTC(2026, 10, 22);

/** Reports to one environment, many of them of the same moment. */
export const reportSeries: fc.Arbitrary<StoredReport[]> = fc
  .array(
    fc.record({
      who: fc.oneof({ weight: 3, arbitrary: fc.constant(WHO[0]) }, { weight: 4, arbitrary: fc.constantFrom(...WHO) }),
      status: fc.constantFrom('Success', 'Success', 'Partial', 'Partial', 'Failed', 'Cancelled'),
      minute: fc.integer({ min: 0, max: 6 }),
      second: fc.integer({ min: 0, max: 2 }),
      isRolledBack: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.boolean()),
      packages: artifactsOf,
    }),
    { maxLength: 9 },
  )
  .map((some) =>
    some.map(({ who, status, minute, second, isRolledBack, packages }, index): StoredReport => {
      const isEffective = status === 'Success' || status === 'Partial';
      return {
        id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
        candidateId: who?.candidateId ?? null,
        contentDigest: who?.contentDigest ?? '',
        status,
        deployedAt: START + minute * 60_000,
        receivedAt: START + second * 1_000,
        isRolledBack: isEffective && isRolledBack,
        installed: isEffective ? packages : {},
      };
    }),
  );
