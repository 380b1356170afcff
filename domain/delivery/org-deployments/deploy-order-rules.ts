import { soqlText } from '../../kernel/text/soql-rules.ts';
import type { TestLevel } from '../../orgs/crm/crm-deployments.port.ts';

type Payload = Readonly<Record<string, unknown>>;

const TEST_LEVELS = [
  'NoTestRun',
  'RunSpecifiedTests',
  'RunLocalTests',
  'RunAllTestsInOrg',
  'RunRelevantTests',
] as const satisfies readonly TestLevel[];

/** How a run deploys, as its payload says. */
export interface DeploymentWish {
  validateOnly: boolean;
  testLevel: TestLevel;
  tests: string[];
  deletions: boolean;
  whole: boolean;
  sourcePackages: string[] | undefined;
  /** Id of the run whose validation is deployed. */
  quickDeployOf: string | undefined;
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

export function wishOf(payload: Payload): DeploymentWish {
  const tests = textsOf(payload.tests);
  const packages = textsOf(payload.sourcePackages);
  const level = TEST_LEVELS.find((each) => each === payload.testLevel);
  return {
    validateOnly: payload.validateOnly === true,
    testLevel: level ?? (tests.length > 0 ? 'RunSpecifiedTests' : 'default'),
    tests,
    deletions: payload.deletions === true,
    whole: payload.whole === true,
    sourcePackages: packages.length > 0 ? packages : undefined,
    quickDeployOf: typeof payload.quickDeployOf === 'string' ? payload.quickDeployOf : undefined,
  };
}

/** Why a payload cannot be deployed to an org of that kind; null: it can. */
export function whyNotDeployed(payload: Payload, orgKind: string): string | null {
  const { testLevel } = payload;
  if (testLevel !== undefined && !TEST_LEVELS.some((each) => each === testLevel))
    return `The testLevel is one of ${TEST_LEVELS.join(', ')}`;
  const wish = wishOf(payload);
  if (wish.validateOnly && wish.quickDeployOf !== undefined)
    return 'A run validates, or deploys what another validated: not both';
  if (wish.testLevel === 'RunSpecifiedTests' && wish.tests.length === 0)
    return 'RunSpecifiedTests names its test classes in tests';
  if (wish.testLevel !== 'RunSpecifiedTests' && wish.tests.length > 0)
    return `With ${wish.testLevel}, no tests are named`;
  if (wish.testLevel === 'NoTestRun' && orgKind === 'production')
    return 'Production takes no deployment with NoTestRun: name tests, or leave the testLevel out';
  return null;
}

/** The deployments that a user began since then (Tooling, object DeployRequest). */
export const deployRequestsSince =
  ({ checkOnly }: { checkOnly: boolean }) =>
  (userId: string, since: Date): string =>
    `SELECT Id FROM DeployRequest WHERE CreatedById = ${soqlText(userId)} AND CheckOnly = ${checkOnly} AND CreatedDate >= ${since.toISOString()} ORDER BY CreatedDate LIMIT 50`;
