import type { DeploymentFacts } from '../../deployments/deployment-facts.ts';
import type { listEnvironments } from '../../../projects/environments/environments.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { inInstallOrder } from '../../../code/git/install-order-rules.ts';
import { dependenciesOf } from '../../../code/git/packages.queries.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import { chooseBaseline } from './baseline-rules.ts';
import { otherContents, type PackageChange, packageChanges } from './package-change-rules.ts';

type Packages = Record<string, string>;
export const packagesOf = (candidate: CandidateRow | undefined): Packages => candidate?.value.artifacts ?? {};

/** What candidates and those before them on their branch hold together: what one does not carry stays as it was. */
function packagesLeft(candidates: readonly CandidateRow[]): Map<CandidateRow, Packages> {
  const left = new Map<CandidateRow, Packages>();
  const byBranch = new Map<string | null, Packages>();
  for (const candidate of candidates) {
    const packages = { ...byBranch.get(candidate.branch), ...packagesOf(candidate) };
    byBranch.set(candidate.branch, packages);
    left.set(candidate, packages);
  }
  return left;
}

/** A change of a package from one candidate to another. */
export interface AnalysedChange extends PackageChange {
  /** The version from which its commits count: also of one that came back, the last that its line held. Null: from the beginning. */
  since: string | null;
}

/** What changes from one candidate to another: packages that one does not carry are removed or added. */
function changesFrom(before: CandidateRow, held: Packages, candidate: CandidateRow): AnalysedChange[] {
  const [from, to] = [packagesOf(before), packagesOf(candidate)];
  const changes = packageChanges(from, to, { withRemoved: true });
  const all =
    changes.length > 0
      ? changes
      : otherContents(
          from,
          to,
          () => before.commitSha,
          () => candidate.commitSha,
        );
  return all.map((change) => ({
    ...change,
    since: change.from ?? (Object.hasOwn(held, change.name) ? (held[change.name] ?? null) : null),
  }));
}

/** The candidates of a branch that are compared, oldest first, and what with. */
export interface Line {
  branch: string;
  baseline: Candidate | undefined;
  isDefaultBaseline: boolean;
  candidates: readonly Candidate[];
}

export type Candidate = CandidateRow & { branch: string };

/** The lines of candidates, by branch, and what each is compared with. */
export const linesOf = (
  all: readonly Candidate[],
  environments: Awaited<ReturnType<typeof listEnvironments>>,
  factOf: DeploymentFacts,
  defaultBranch: string,
): Map<string, Line> =>
  new Map(
    [...Map.groupBy(all, (candidate) => candidate.branch)].map(([name, own]): [string, Line] => {
      const { baseline, isDefaultBaseline } = chooseBaseline(own, environments, factOf, defaultBranch);
      const candidates = baseline ? own.slice(isDefaultBaseline ? 0 : own.indexOf(baseline) + 1) : [];
      return [name, { branch: name, baseline, isDefaultBaseline, candidates }];
    }),
  );

/** A candidate, and what changes from the one before and from the baseline of its line to it. */
export interface Comparison {
  candidate: Candidate;
  baseline: Candidate | undefined;
  incremental: readonly AnalysedChange[];
  cumulative: readonly AnalysedChange[];
}

export function comparisonsOf(
  all: readonly Candidate[],
  lines: ReadonlyMap<string, Line>,
  { packages }: Pick<History, 'packages'>,
): Comparison[] {
  const dependencies = dependenciesOf(packages);
  const left = packagesLeft(all);
  return [...lines.values()]
    .flatMap(({ baseline, candidates }) =>
      candidates.map((candidate, index) => {
        const changesSince = (other: Candidate | undefined) =>
          other === undefined || other === candidate
            ? []
            : inInstallOrder(changesFrom(other, left.get(other) ?? {}, candidate), dependencies);
        const incremental = changesSince(candidates[index - 1] ?? baseline);
        return { candidate, baseline, incremental, cumulative: changesSince(baseline) };
      }),
    )
    .toSorted((a, b) => all.indexOf(a.candidate) - all.indexOf(b.candidate));
}
