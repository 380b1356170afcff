import { intentOf, packageStep } from '../org-packages/package-intents.ts';
import type { NewStep, StepRow } from '../org-steps/org-steps.queries.ts';
import { directionOf, packageChanges } from '../releases/changelogs/package-change-rules.ts';
import type { SourceBuild } from '../source/source-build.port.ts';

type Packages = Readonly<Record<string, string>>;

const NO_UNINSTALL = 'a rollback uninstalls nothing';
const NO_DELETIONS = 'What the source has brought since stays: the payload has no deletions: true';
const UNKNOWN_BASE = 'It is not known which source the org runs: what that has brought since stays';
const ALWAYS = 'Data stays as it is, and so do components that a package version has deprecated';

/** What a rollback cannot do, as far as the release candidates say it. @param from the artifacts that are taken back. */
export function cannotDoByCandidates(from: Packages, to: Packages, { deletions }: { deletions: boolean }): string[] {
  const changes = packageChanges(from, to, { withRemoved: true }).flatMap((change) => {
    const { name, from: before, to: after } = change;
    if (after === null) return [`${name} ${before} stays: ${NO_UNINSTALL}`];
    return before !== null && directionOf(change) === 'downgrade'
      ? [`${name} ${before} stays unless it is source: no earlier version of a package is installed over a later one`]
      : [];
  });
  return [...changes, ...(deletions ? [] : [NO_DELETIONS]), ALWAYS];
}

/** Steps that say of packages which came with a release that they stay. */
export const stayingSteps = (packages: Packages, orgId: string): NewStep[] =>
  Object.entries(packages).map(([name, number]) =>
    packageStep('uninstall', { id: number, name, number, isUnlocked: false }, orgId, {
      before: number,
      skip: NO_UNINSTALL,
      keyName: null,
      isLeft: true,
    }),
  );

/**
 * What a rollback cannot do, by its steps before any of them is begun.
 * @param source undefined: none is deployed.
 */
export function cannotDoBySteps(
  steps: readonly NewStep[],
  source: { baseSha: string | null; deletions: boolean } | undefined,
): string[] {
  const packages = steps.flatMap(({ intent = {} }) => {
    const { isLeft, name, number, before, skip } = intentOf({ intent });
    return isLeft ? [`${name} ${before ?? number} stays${before === number ? '' : `, not ${number}`}: ${skip}`] : [];
  });
  const isUnknown = source?.baseSha === null;
  return [
    ...packages,
    ...(isUnknown ? [UNKNOWN_BASE] : []),
    ...(source && !source.deletions && !isUnknown ? [NO_DELETIONS] : []),
    ALWAYS,
  ];
}

/** What of it the row of a build keeps. */
type Built = Partial<Pick<SourceBuild, 'undeletable' | 'comparedWith'> & { pending: SourceBuild['pendingDeletions'] }>;

const NAMES_SHOWN = 20;

/** What of a release is still there when its rollback has ended, in words. @param build undefined: of no source. */
export function leftBehind(steps: readonly StepRow[], build: Built | undefined): string[] {
  const packages = steps.map(intentOf).filter(({ isLeft }) => isLeft);
  const components = [...(build?.pending ?? []), ...(build?.undeletable ?? [])];
  const shown = components.slice(0, NAMES_SHOWN).map(({ type, fullName }) => `${type} ${fullName}`);
  const more = components.length - shown.length;
  return [
    ...packages.map(({ name, before, number }) => `${name} ${before ?? number}`),
    ...shown,
    ...(more > 0 ? [`${more} more components`] : []),
    ...(build?.comparedWith === null ? ['what the source has brought since'] : []),
  ];
}
