import { Name, Pipeline } from '../../projects/policies/pipeline.schemas.ts';
import { BROWSER_CHECK } from '../../projects/policies/browser-check.schemas.ts';
import { z } from 'zod';
import { WANTED_EXECUTORS } from '../../projects/policies/executor-policy-rules.ts';
import { WorkItemRef } from './work-item-ref.schemas.ts';
import { mapOf, openObject, trimmedText } from '../../kernel/overrides/large-maps.ts';

export const Names = z.array(Name).min(1).max(500);
export const Versions = mapOf(trimmedText(255), trimmedText(255));

/** What the payload of every type may name. Other members are kept and passed to what executes the run. */
const COMMON = {
  id: z.string(),
  repositoryIdentifier: z.string().max(255).optional(),
  environmentName: Name.optional(),
  environmentId: z.uuid().optional(),
  domain: Name.optional(),
  releaseName: Name.optional(),
  branch: Name.optional(),
  commitId: z
    .string()
    .regex(/^[0-9a-f]{7,64}$/i, 'must be a commit id')
    .optional(),
  prNumber: z.int().positive().optional(),
  flowPath: Name.optional(),
  workItemRef: WorkItemRef.optional(),
  approvalPolicy: openObject().optional().meta({
    description:
      "For a type with the approval gate: as an environment's policy; counts only where the policies of the run's targets skip the approval",
  }),
  pipeline: Pipeline.optional().meta({ description: 'Executes the run as a pipeline of the git host' }),
  executor: z.enum(WANTED_EXECUTORS).optional().meta({
    description:
      'What executes the run: the `service` itself, a `command` of the operator, or the `pipeline`. When absent, as the configuration of the project says (`executors`). `auto`: a pipeline that is named goes before a command, and that before the service',
  }),
};

/** The payload of a type: the members of all types and those of its own. */
export const payload = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject({ ...COMMON, ...shape });
/** What is checked of a deployment. */
export const VERIFIED = {
  repositoryIdentifier: z.string().max(255),
  environmentName: Name,
  check: Name.optional().meta({ description: 'What is to be checked, as the environment names it' }),
};
/** What is played in a browser, and where. */
export const PLAYED = { repositoryIdentifier: z.string().max(255), environmentName: Name, ...BROWSER_CHECK };
export const ON_ORG = { orgUsername: Name.optional() };
/** By what a run names people of its org. */
export const PEOPLE = {
  usernames: Names.optional(),
  profiles: Names.optional().meta({ description: 'Everybody active who has one of these profiles' }),
  permissionSets: Names.optional().meta({ description: 'Everybody active who has one of these permission sets' }),
  allExcept: z
    .array(Name)
    .max(500)
    .optional()
    .meta({ description: 'All active people of the org but these, by username' }),
};
/** Which packages a run installs, and how; words of the platform's own tool. */
export const PACKAGES = {
  packages: Versions.optional().meta({
    description:
      'Versions by the names of their packages: the id (`04t…`), an alias of `sfdx-project.json`, or a number with such an alias. What they need is installed before them',
  }),
  securityType: z.enum(['AdminsOnly', 'AllUsers']).optional().meta({ description: '`AdminsOnly` when absent' }),
  upgradeType: z.enum(['Mixed', 'DeprecateOnly', 'Delete']).optional().meta({
    description: 'For unlocked packages: what becomes of components that the version lacks; `Delete` loses their data',
  }),
  apexCompile: z.enum(['all', 'package']).optional().meta({
    description: 'For unlocked packages: which Apex must compile; production orgs compile all of it in any case',
  }),
};
export const UNINSTALLED = {
  packages: Names.optional().meta({
    description:
      'Packages that the org has, by name, namespace or id (`033…`); an id or alias of a version (`04t…`) means that version alone',
  }),
};
/** What a run gives people of its org, and for how long. */
export const PRIVILEGES = {
  usernames: Names.optional(),
  permissionSets: Names.optional().meta({ description: 'Names of permission sets and of groups of them' }),
  durationMinutes: z.int().positive().max(43_200).optional().meta({
    description: 'How long they have them; 60 where the service executes the run. Then they are taken back',
  }),
};
export const SESSIONS = {
  endSessions: z.boolean().optional().meta({ description: 'End their open sessions, too, which freezing leaves' }),
};
/** How source is deployed. */
export const DEPLOYMENT = {
  validateOnly: z.boolean().optional().meta({ description: 'The org checks it, and changes nothing' }),
  testLevel: Name.optional().meta({
    description:
      'NoTestRun (not in production), RunSpecifiedTests, RunLocalTests, RunAllTestsInOrg or RunRelevantTests; as the platform decides when absent',
  }),
  tests: Names.optional().meta({ description: 'Test classes, for `RunSpecifiedTests`' }),
  ignoreWarnings: z.boolean().optional().meta({
    description: 'Warnings of the platform fail nothing; else as the environment says, or true',
  }),
  deletions: z.boolean().optional().meta({
    description: 'Delete in the org what the source no longer has; else that is left for a later run',
  }),
  whole: z.boolean().optional().meta({ description: 'All of the source, not only what changed' }),
  sourcePackages: Names.optional().meta({ description: 'Names or directories of packages of `sfdx-project.json`' }),
  quickDeployOf: z.uuid().optional().meta({
    description: 'Id of a run with `validateOnly`: what it validated is deployed without running its tests again',
  }),
};
/** The change set that a run installs, and how. */
export const CHANGE_SET = {
  changeset: Name.optional(),
  sourceOrg: Name.optional().meta({
    description: 'Where the service executes it: username or id of the registered org in which the set was made',
  }),
  changeSetName: Name.optional().meta({ description: 'Name of the outbound change set there' }),
  validateOnly: DEPLOYMENT.validateOnly,
  testLevel: DEPLOYMENT.testLevel,
  tests: DEPLOYMENT.tests,
  ignoreWarnings: DEPLOYMENT.ignoreWarnings,
};
/** Which Apex tests a run executes, and what they must come to. */
export const APEX_TESTS = {
  testLevel: Name.optional().meta({
    description:
      'RunSpecifiedTests, RunLocalTests or RunAllTestsInOrg; what is named, else the local tests, when absent',
  }),
  classNames: Names.optional(),
  suites: Names.optional().meta({ description: 'Names of test suites' }),
  maxFailedTests: z.int().min(0).max(10_000).optional().meta({
    description: 'Ends after so many failures; 0 after the first',
  }),
  changedClassesOnly: z.boolean().optional().meta({
    description:
      'Only test classes that changed, that name a class that changed, or that covered one when they ran last; nothing where no Apex changed',
  }),
  since: Name.optional().meta({
    description:
      'Branch, tag, commit or release with which the commit is compared: that of the payload, else the one that the org runs. What the org ran before when absent',
  }),
  minCoverage: z.number().min(0).max(100).optional().meta({
    description: 'Percent of the lines of the org that its tests must cover; else the run fails',
  }),
  minChangedCoverage: z.number().min(0).max(100).optional().meta({
    description:
      'Percent of the lines that changed that the tests must cover; else, or if it is not known, the run fails',
  }),
  noNewFailures: z.boolean().optional().meta({
    description: 'What failed when the org ran the commit that is compared with may fail again',
  }),
  ignoreFlaky: z.boolean().optional().meta({
    description: 'What both passed and failed with one commit, before this run, may fail',
  }),
};
export const SANDBOX = {
  sandboxName: Name.optional().meta({ description: 'At most 10 letters and digits' }),
  productionUsername: Name.optional().meta({
    description: 'The production org; found by the org or environment of the payload, or the only one, when absent',
  }),
};
const SandboxText = z.string().trim().min(1).max(1_000);
/** How a sandbox is made; a refresh leaves what is absent as it is. */
export const SANDBOX_DEFINITION = {
  licenseType: Name.optional().meta({ description: '`DEVELOPER`, `DEVELOPER_PRO`, `PARTIAL` or `FULL`' }),
  sourceSandboxName: Name.optional().meta({
    description: 'The sandbox that is cloned, instead of production; its type of licence is that of the clone',
  }),
  activationGroup: Name.optional().meta({
    description:
      'Id or `DeveloperName` of the public group whose members may sign in at once; the platform demands it for the Developer types',
  }),
  templateId: Name.optional().meta({ description: 'Which objects are copied; the platform demands it for `PARTIAL`' }),
  apexClass: Name.optional().meta({ description: 'Id or name of a class that runs in the sandbox after its copying' }),
  autoActivate: z.boolean().optional().meta({
    description: 'False: it waits for `request-sandbox-activate`; true when absent',
  }),
  description: SandboxText.optional(),
  features: Names.optional(),
};
/** What is started one after another once a sandbox is copied and registered. */
export const POST_COPY = {
  postCopy: z
    .array(z.looseObject({ id: Name }))
    .max(10)
    .optional()
    .meta({
      description:
        'Payloads of runs that follow, one after another, each with its own gates; `orgUsername` is the sandbox where they name none',
    }),
};
export const ACTIVATION = {
  action: z.enum(['activate', 'discard']).optional().meta({ description: '`activate` when absent' }),
};
/** Ends what is in use of a sandbox. */
export const FORCE = {
  force: z.boolean().optional().meta({
    description: 'Goes although review assignments or browser sessions are open on the sandbox, which are lost',
  }),
};
/** Members of types that change what orgs run: they obey the windows of environments. */
export const PROMOTION = {
  failOutsideWindow: z
    .boolean()
    .optional()
    .meta({ description: 'Fail instead of waiting for a window of the environment' }),
  override: z
    .strictObject({ reason: z.string().trim().min(1).max(1_000) })
    .optional()
    .meta({
      description:
        "By an owner: pass the environment's windows and freezes, and what must be deployed before. Shown on the compliance report",
    }),
};
/** What is prepared of a review pool. */
export const POOL = {
  poolTag: Name.optional(),
  poolId: z.uuid().optional(),
  count: z.int().min(0).max(200).optional().meta({ description: 'How many orgs to make' }),
  refresh: z.array(Name).max(200).optional().meta({ description: 'Usernames of orgs to refresh' }),
  definition: openObject().optional().meta({ description: 'As the pool has it' }),
};
const { testLevel, tests, deletions, whole } = DEPLOYMENT;
const { packages: _, ...HOW_INSTALLED } = PACKAGES;
/** How what a release carries is installed and deployed. */
export const RELEASED = { testLevel, tests, deletions, whole, ...HOW_INSTALLED };
export const RELEASE = {
  repositoryIdentifier: z.string().max(255),
  domain: Name,
  releaseName: Name,
  ...PROMOTION,
  ...RELEASED,
};

export type RunPayload = z.output<z.ZodObject<typeof COMMON>> &
  Partial<z.output<z.ZodObject<typeof PROMOTION>>> &
  Record<string, unknown>;
