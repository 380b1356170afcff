import {
  changedCoverage,
  isSameSource,
  type ApexUnit,
} from '../../../domain/delivery/apex-tests/changed-apex-rules.ts';
import type { CoveredClass } from '../../../domain/delivery/apex-tests/apex-test-rules.ts';
import { apexByName, linesCovered } from '../../../domain/delivery/apex-tests/apex-test-soql-rules.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { CrmRow } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import type { OrgWork } from '../org-steps/org-work.ts';
import { comparedCommits } from './compared-commits.ts';
import { changedPaths, type ChangedUnit, changedUnits } from './read-apex.ts';

/** What is known of the lines of a class that changed. */
export type ChangedClass = Pick<CoveredClass, 'className' | 'changedLines' | 'changedCovered' | 'whyUnknown'>;

const CLASSES_MAX = 500;
/** Sources have up to a million characters, and an answer of the org up to 16 MiB. */
const SOURCES_AT_ONCE = 10;
const IDS_AT_ONCE = 100;
const TOOLING = { isTooling: true };

/**
 * How many of the lines that differ between two commits the tests of an org cover, by class; or why that is not known at all,
 * for people. Classes whose source in the org is not that of the commit are not known. Tests, interfaces and enums have no
 * lines to be covered, and are left out.
 */
export async function coverageOfChanges(
  work: OrgWork,
  sides: { commitSha: string; baseSha: string },
  signal: AbortSignal,
): Promise<ChangedClass[] | string> {
  try {
    const of = await comparedCommits(work, sides, signal);
    const paths = await changedPaths(of);
    if (paths.apex.size > CLASSES_MAX)
      return `${paths.apex.size} classes and triggers differ: the lines of ${CLASSES_MAX} are looked at`;
    const units = (await changedUnits(of, paths)).filter(
      ({ isTest, hasCode, ranges }) => !isTest && hasCode && ranges.length > 0,
    );
    return [...(await ofKind(work, units, 'class')), ...(await ofKind(work, units, 'trigger'))];
  } catch (error) {
    if (error instanceof DomainError && error.code === 'flow_unavailable') return error.message;
    throw error;
  }
}

async function ofKind({ org }: OrgWork, all: readonly ChangedUnit[], kind: ApexUnit['kind']): Promise<ChangedClass[]> {
  const units = all.filter((unit) => unit.kind === kind);
  const inOrg = new Map<string, { id: string; isSame: boolean }>();
  for (const part of partsOf(units, SOURCES_AT_ONCE)) {
    const names = part.map(({ name }) => name);
    const type = kind === 'class' ? 'ApexClass' : 'ApexTrigger';
    const { rows } = answered(await org.calls.query(apexByName(type, names, 'Id, Name, Body'), TOOLING));
    for (const { Id: id, Name: name, Body: body } of rows) {
      const unit = part.find((each) => each.name.toLowerCase() === String(name).toLowerCase());
      if (unit) inOrg.set(unit.name, { id: String(id), isSame: isSameSource(unit.text, String(body)) });
    }
  }
  const lines = new Map<string, { covered: number[]; uncovered: number[] }>();
  for (const ids of partsOf(
    [...inOrg.values()].filter(({ isSame }) => isSame).map(({ id }) => id),
    IDS_AT_ONCE,
  )) {
    const { rows } = answered(await org.calls.query(linesCovered(ids), TOOLING));
    for (const { ApexClassOrTriggerId: id, Coverage: coverage } of rows) {
      const { coveredLines, uncoveredLines } = (coverage ?? {}) as CrmRow;
      lines.set(String(id), { covered: numbers(coveredLines), uncovered: numbers(uncoveredLines) });
    }
  }
  return units.map((unit) => {
    const found = inOrg.get(unit.name);
    const covered = lines.get(found?.id ?? '');
    const unknown = (whyUnknown: string) => ({
      className: unit.name,
      changedLines: null,
      changedCovered: null,
      whyUnknown,
    });
    if (!found) return unknown('The org does not have it');
    if (!found.isSame) return unknown('Its source in the org is not that of the commit');
    if (!covered) return unknown('The org shows no coverage of it');
    const changed = changedCoverage(unit.ranges, covered);
    return { className: unit.name, changedLines: changed.lines, changedCovered: changed.covered, whyUnknown: null };
  });
}

const numbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((each): each is number => typeof each === 'number') : [];
