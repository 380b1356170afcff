import { createHash } from 'node:crypto';
import type { SimulatedOrg } from './org.ts';
import type { SoqlRow, SoqlTable } from './soql.ts';

const PREFIXES = { ApexClass: '01p', ApexTrigger: '01q' } as const;
type ApexType = keyof typeof PREFIXES;

/** The same each time that it is asked for. */
export const idOfApex = (org: SimulatedOrg, type: ApexType, name: string): string =>
  PREFIXES[type] + createHash('sha256').update(`${org.orgId} ${type} ${name}`).digest('hex').slice(0, 12);

const sourcesOf = (org: SimulatedOrg, type: ApexType): SoqlRow[] =>
  [...org.metadata.byName(type)].map(([name, { newest }]) => {
    const body = newest.content.toString('utf8');
    return {
      Id: idOfApex(org, type, name),
      Name: name,
      NamespacePrefix: null,
      Status: 'Active',
      ApiVersion: 66,
      Body: body,
      LengthWithoutComments: body.length,
    };
  });

const CODE_FIELDS = 'Id Name NamespacePrefix Status ApiVersion Body LengthWithoutComments'.split(' ');
const AGGREGATE_FIELDS =
  'Id ApexClassOrTriggerId ApexClassOrTrigger.Id ApexClassOrTrigger.Name NumLinesCovered NumLinesUncovered Coverage';
const COVERAGE_FIELDS = `${AGGREGATE_FIELDS} ApexTestClassId ApexTestClass.Name ApexTestClass.NamespacePrefix TestMethodName`;

/**
 * What the Tooling interface has of an org's Apex and of how its tests cover it: ApexClass, ApexTrigger,
 * ApexCodeCoverageAggregate, ApexOrgWideCoverage and ApexCodeCoverage, whose `Coverage` has `coveredLines` and `uncoveredLines`
 * (developer.salesforce.com, Tooling API). A class counts as covered as `deployments.coverage` says.
 * @param covers what test classes covered when they ran last.
 */
export function apexTables(
  org: SimulatedOrg,
  covers: ReadonlyMap<string, readonly string[]>,
): Record<string, SoqlTable> {
  const coverageOf = (name: string): SoqlRow => {
    const { lines, uncovered, uncoveredLines } = org.deployments.coverage.get(name) ?? { lines: 0, uncovered: 0 };
    const all = Array.from({ length: lines }, (_, index) => index + 1);
    const bare = uncoveredLines ?? all.slice(lines - uncovered);
    const id = idOfApex(org, org.metadata.byName('ApexTrigger').has(name) ? 'ApexTrigger' : 'ApexClass', name);
    return {
      Id: `715${id.slice(3)}`,
      ApexClassOrTriggerId: id,
      'ApexClassOrTrigger.Id': id,
      'ApexClassOrTrigger.Name': name,
      NumLinesCovered: lines - uncovered,
      NumLinesUncovered: uncovered,
      Coverage: { coveredLines: all.filter((line) => !bare.includes(line)), uncoveredLines: bare },
    };
  };
  const byTest = (): SoqlRow[] =>
    [...covers].flatMap(([test, names]) =>
      names.map((name) => ({
        ...coverageOf(name),
        ApexTestClassId: idOfApex(org, 'ApexClass', test),
        'ApexTestClass.Name': test,
        'ApexTestClass.NamespacePrefix': null,
        TestMethodName: 'test',
      })),
    );
  return {
    ApexClass: { fields: CODE_FIELDS, rows: () => sourcesOf(org, 'ApexClass') },
    ApexTrigger: { fields: CODE_FIELDS, rows: () => sourcesOf(org, 'ApexTrigger') },
    ApexCodeCoverageAggregate: {
      fields: AGGREGATE_FIELDS.split(' '),
      rows: () => [...org.deployments.coverage.keys()].map(coverageOf),
    },
    ApexOrgWideCoverage: { fields: ['PercentCovered'], rows: () => [{ PercentCovered: orgWide(org) }] },
    ApexCodeCoverage: { fields: COVERAGE_FIELDS.split(' '), rows: byTest },
  };
}

function orgWide({ deployments }: SimulatedOrg): number {
  const all = [...deployments.coverage.values()];
  const lines = all.reduce((sum, each) => sum + each.lines, 0);
  const bare = all.reduce((sum, each) => sum + each.uncovered, 0);
  return lines === 0 ? 0 : Math.floor(((lines - bare) / lines) * 100);
}
