import { DEPLOY_TEST_LEVELS } from '../../projects/policies/deploy-settings-rules.ts';
import { soqlText } from '../../kernel/text/soql-rules.ts';
import type { Deployment, TestLevel } from '../../orgs/crm/crm-deployments.port.ts';

type Payload = Readonly<Record<string, unknown>>;

const TEST_LEVELS: readonly TestLevel[] = DEPLOY_TEST_LEVELS;

/** How a run deploys, as its payload says. */
export interface DeploymentWish {
  validateOnly: boolean;
  testLevel: TestLevel;
  tests: string[];
  /** Warnings of the platform fail nothing. */
  ignoreWarnings: boolean;
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
    ignoreWarnings: payload.ignoreWarnings !== false,
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

/** What of a deployment is known to the run that asked for it. */
interface AskedDeployment {
  checkOnly: boolean;
  testLevel: TestLevel;
  tests: readonly string[];
  /** Null: it is not known how many the org counts. */
  components: number | null;
  /** A validation is deployed: its options are those of the platform. */
  isQuick: boolean;
}

/**
 * Whether a deployment that the org shows can be the one that was asked for; `unknown`: it was asked for in the same way, but
 * the org counts other components than were sent.
 */
export function mayBeAsked(
  asked: AskedDeployment,
  { checkOnly, options, components: { total } }: Pick<Deployment, 'checkOnly' | 'options' | 'components'>,
): boolean | 'unknown' {
  if (checkOnly !== asked.checkOnly) return false;
  if (!asked.isQuick && options && isAskedOtherwise(asked, options)) return false;
  return total === 0 || asked.components === null || total === asked.components ? true : 'unknown';
}

function isAskedOtherwise(
  { testLevel: level, tests: named }: AskedDeployment,
  { testLevel, tests }: NonNullable<Deployment['options']>,
): boolean {
  // What the platform shows where none was asked for is its own choice.
  if (level === 'default') return testLevel === 'RunSpecifiedTests';
  if (testLevel !== null && testLevel !== level) return true;
  const names = (list: readonly string[]) => [...new Set(list.map((name) => name.toLowerCase()))].toSorted().join();
  return level === 'RunSpecifiedTests' && names(tests) !== names(named);
}

/** The deployments that a user began since then (Tooling, object DeployRequest). */
export const deployRequestsSince =
  ({ checkOnly }: { checkOnly: boolean }) =>
  (userId: string, since: Date): string =>
    `SELECT Id FROM DeployRequest WHERE CreatedById = ${soqlText(userId)} AND CheckOnly = ${checkOnly} AND CreatedDate >= ${since.toISOString()} ORDER BY CreatedDate LIMIT 50`;
