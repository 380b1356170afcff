import type { ApexUnit } from '../../../domain/delivery/apex-tests/changed-apex-rules.ts';
import { concernedTests } from '../../../domain/delivery/apex-tests/changed-apex-rules.ts';
import { apexByName, testsCovering } from '../../../domain/delivery/apex-tests/apex-test-soql-rules.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import type { CrmRow } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import type { OrgWork } from '../org-steps/org-work.ts';
import { apexOfHead, changedPaths, type ComparedCommits } from './read-apex.ts';

/** Which tests what changed asks for. */
export interface ChosenTests {
  /** Classes; null: all local tests, since more are concerned than are named to an org. */
  classNames: string[] | null;
  /** For people: what was compared, and what is not known. */
  reason: string;
  /** Classes and triggers that differ, those that are gone included. */
  changed: number;
  /** What changed and is reached by no test, as far as sources and the org's coverage say. */
  untested: string[];
  /** Tests of the commit that the org does not have. */
  missing: string[];
  /** Files that are no Apex and differ: which tests concern them is not known. */
  otherFiles: number;
}

/** So many classes that changed are looked at, and so many test classes named to an org. */
const CLASSES_MAX = 500;
const NAMES_AT_ONCE = 100;
/** An org has a row for each class and each test method that covers it. */
const COVERED_AT_ONCE = 20;
const SHOWN = 100;
const TOOLING = { isTooling: true };

/** Chooses the tests that concern what differs between two commits, by their sources and by what the org covered. */
export async function chooseTests(work: OrgWork, of: ComparedCommits): Promise<ChosenTests> {
  const paths = await changedPaths(of);
  const [from, to] = [of.baseSha.slice(0, 8), of.commitSha.slice(0, 8)];
  const others = paths.others > 0 ? ` ${paths.others} other files differ: which tests concern them is not known.` : '';
  const chosen = { changed: paths.apex.size, untested: [], missing: [], otherFiles: paths.others };
  if (paths.apex.size === 0)
    return { ...chosen, classNames: [], reason: `No class or trigger differs between ${from} and ${to}.${others}` };
  const differ = `${paths.apex.size} classes and triggers differ between ${from} and ${to}.${others}`;
  const all = { ...chosen, classNames: null, reason: `${differ} So many are concerned that all local tests run.` };
  if (paths.apex.size > CLASSES_MAX) return all;
  const units = await apexOfHead(of, paths);
  const changed = units.filter(({ path }) => paths.apex.has(path));
  const { tests, untested } = concernedTests(units, changed);
  const covering = await coveringTests(work, changed);
  const names = [...new Set([...tests, ...covering.tests])].toSorted();
  if (names.length > CLASSES_MAX) return all;
  const known = new Set((await named(work, 'ApexClass', names)).map(({ Name }) => String(Name).toLowerCase()));
  return {
    ...chosen,
    classNames: names,
    reason: `${differ} ${names.length} test classes name them, or covered them when they ran last.${covering.isComplete ? '' : ' The org has more coverage than was read: other tests may cover them, too.'}`,
    untested: untested.filter((name) => !covering.covered.has(name.toLowerCase())).slice(0, SHOWN),
    missing: names.filter((name) => !known.has(name.toLowerCase())).slice(0, SHOWN),
  };
}

async function named({ org }: OrgWork, type: 'ApexClass' | 'ApexTrigger', names: readonly string[]): Promise<CrmRow[]> {
  const rows: CrmRow[] = [];
  for (const part of partsOf(names, NAMES_AT_ONCE))
    rows.push(...answered(await org.calls.query(apexByName(type, part, 'Id, Name'), TOOLING)).rows);
  return rows;
}

/** The org's test classes that covered what changed, and the names of what is covered, in small letters. */
async function coveringTests(
  work: OrgWork,
  changed: readonly ApexUnit[],
): Promise<{ tests: Set<string>; covered: Set<string>; isComplete: boolean }> {
  const code = changed.filter(({ isTest }) => !isTest);
  const names = (kind: ApexUnit['kind']) => code.filter((unit) => unit.kind === kind).map(({ name }) => name);
  const rows = [
    ...(await named(work, 'ApexClass', names('class'))),
    ...(await named(work, 'ApexTrigger', names('trigger'))),
  ];
  const nameOf = new Map(rows.map(({ Id, Name }) => [String(Id), String(Name).toLowerCase()]));
  const tests = new Set<string>();
  const covered = new Set<string>();
  let isComplete = true;
  for (const part of partsOf([...nameOf.keys()], COVERED_AT_ONCE)) {
    const found = answered(await work.org.calls.query(testsCovering(part), TOOLING));
    isComplete &&= found.isComplete;
    for (const { ApexTestClass: test, ApexClassOrTriggerId: id } of found.rows) {
      const { Name: name } = (test ?? {}) as CrmRow;
      if (typeof name !== 'string') continue;
      tests.add(name);
      covered.add(nameOf.get(String(id)) ?? '');
    }
  }
  return { tests, covered, isComplete };
}
