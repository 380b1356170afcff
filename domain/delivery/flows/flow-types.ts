import { z } from 'zod';
import { type FlowCategory, POOL_PARTS, RECORD_SESSION, RUN_BROWSER_CHECK } from './flow-categories.ts';
import type { FlowTraits } from './programs/executor-rules.ts';
import {
  ACTIVATION,
  FORCE,
  APEX_TESTS,
  CHANGE_SET,
  DEPLOYMENT,
  Names,
  ON_ORG,
  PACKAGES,
  payload,
  PEOPLE,
  PLAYED,
  POOL,
  POST_COPY,
  PRIVILEGES,
  PROMOTION,
  RELEASE,
  RELEASED,
  SANDBOX,
  SANDBOX_DEFINITION,
  SESSIONS,
  UNINSTALLED,
  VERIFIED,
  Versions,
} from './flow-payloads.ts';
import { Name } from '../../projects/policies/pipeline.schemas.ts';

export interface FlowType<Id extends string = string, Own extends FlowTraits['own'] = FlowTraits['own']>
  extends FlowTraits {
  id: Id;
  own: Own;
  summary: string;
  category: FlowCategory;
  payload: z.ZodObject;
}

/** The type of the runs by which a release is deployed stage by stage. */
export const CHILD_OF_RELEASE = 'execute-release';

/** The type of the runs that analyse code. */
export const ANALYZE = 'analyze';

/** The type of the runs that merge branches into each other. */
export const CASCADE_MERGE = 'cascade-merge';

/** The type of the runs by which review pools get their orgs. */
export const POOL_PREPARE = 'pool-prepare';

const NO_GATES = { approval: false, lock: false };
const BOTH_GATES = { approval: true, lock: true };
const PART = { target: 'org', isInternal: true, own: 'activity', payload: ON_ORG } as const;
const ON_SANDBOX = { gates: BOTH_GATES, target: 'sandbox', changesOrg: true, own: 'activity' } as const;

const type = <Id extends string, Own extends FlowTraits['own'] = undefined>(
  id: Id,
  category: FlowCategory,
  summary: string,
  {
    gates = NO_GATES,
    target = 'none',
    own,
    isDeployment = false,
    changesOrg = isDeployment,
    isRollback = false,
    commandOf,
    isInternal = false,
    payload: shape = {},
  }: Partial<FlowTraits> & { own?: Own; payload?: z.ZodRawShape } = {},
): FlowType<Id, Own> => ({
  id,
  category,
  summary,
  gates,
  target,
  own: own as Own,
  isDeployment,
  changesOrg,
  isRollback,
  commandOf,
  isInternal,
  payload: payload(shape),
});

/** Every type of flow; a run takes its gates, its executor and the shape of its payload from here. */
export const FLOW_TYPES = [
  type('request-elevated-privileges', 'access', 'Give people more rights in an org for a time', {
    gates: { approval: true, lock: false },
    target: 'org',
    own: 'activity',
    payload: { ...ON_ORG, ...PRIVILEGES },
  }),
  type('request-freeze-users', 'access', 'Freeze people in an org', {
    gates: { approval: true, lock: false },
    target: 'org',
    own: 'activity',
    payload: { ...ON_ORG, ...PEOPLE, ...SESSIONS },
  }),
  type('request-unfreeze-users', 'access', 'Unfreeze people in an org', {
    target: 'org',
    own: 'activity',
    payload: { ...ON_ORG, ...PEOPLE },
  }),
  type('request-sandbox-create', 'environment', 'Create a sandbox', {
    gates: { approval: true, lock: false },
    target: 'sandbox',
    own: 'activity',
    payload: { ...SANDBOX, ...SANDBOX_DEFINITION, ...POST_COPY },
  }),
  type('request-sandbox-refresh', 'environment', 'Refresh a sandbox', {
    ...ON_SANDBOX,
    payload: { ...SANDBOX, ...SANDBOX_DEFINITION, ...POST_COPY, ...FORCE, ...PROMOTION },
  }),
  type('request-sandbox-activate', 'environment', 'Activate or discard a sandbox that was copied', {
    ...ON_SANDBOX,
    payload: { ...SANDBOX, ...ACTIVATION, ...POST_COPY, ...FORCE, ...PROMOTION },
  }),
  type('request-sandbox-delete', 'environment', 'Delete a sandbox', {
    ...ON_SANDBOX,
    payload: { ...SANDBOX, ...FORCE, ...PROMOTION },
  }),
  type('install-packages', 'package', 'Install packages in an org', {
    gates: BOTH_GATES,
    target: 'org',
    changesOrg: true,
    own: 'activity',
    payload: { ...ON_ORG, ...PROMOTION, ...PACKAGES },
  }),
  type('uninstall-packages', 'package', 'Uninstall packages from an org', {
    gates: BOTH_GATES,
    target: 'org',
    changesOrg: true,
    own: 'activity',
    payload: { ...ON_ORG, ...PROMOTION, ...UNINSTALLED },
  }),
  type('install-artifacts', 'package', 'Deploy the source of a commit to an org, or install built artifacts there', {
    gates: BOTH_GATES,
    target: 'org',
    changesOrg: true,
    own: 'activity',
    payload: { ...ON_ORG, ...PROMOTION, ...DEPLOYMENT, artifacts: Versions.optional() },
  }),
  type('install-changeset', 'package', 'Install a change set in an org', {
    gates: BOTH_GATES,
    target: 'org',
    changesOrg: true,
    own: 'activity',
    payload: { ...ON_ORG, ...PROMOTION, ...CHANGE_SET },
  }),
  type('create-patch-branch', 'repository', 'Create a branch at a release, for a patch of it', {
    own: 'activity',
    payload: {
      repositoryIdentifier: z.string().max(255),
      newBranch: Name.meta({ description: 'Name of the branch to create' }),
      sourceRef: Name.meta({ description: 'Tag, branch or commit at which it begins' }),
    },
  }),
  type('run-apex-tests', 'testing', 'Run tests in an org', {
    gates: { approval: false, lock: true },
    target: 'org',
    own: 'activity',
    payload: { ...ON_ORG, ...APEX_TESTS },
  }),
  type('verify-deployment', 'testing', 'Check what a deployment does in its environment', {
    target: 'environment',
    payload: VERIFIED,
  }),
  type(RUN_BROWSER_CHECK, 'testing', 'Play a recording of Chrome DevTools in a browser at the org of an environment', {
    target: 'environment',
    own: 'activity',
    payload: PLAYED,
  }),
  type(CHILD_OF_RELEASE, 'release', 'Deploy a release to one environment', {
    gates: BOTH_GATES,
    target: 'environment',
    isDeployment: true,
    own: 'activity',
    payload: RELEASE,
  }),
  type(
    'request-release',
    'release',
    'Deploy a release to all release environments, one child run each, stage by stage',
    {
      own: 'children',
      payload: {
        ...RELEASE,
        environmentNames: Names.optional().meta({
          description: 'Only these; all active release environments when absent',
        }),
      },
    },
  ),
  type('rollback-release', 'release', 'Deploy the release again that was installed in an environment before', {
    gates: BOTH_GATES,
    target: 'environment',
    isDeployment: true,
    isRollback: true,
    own: 'activity',
    commandOf: CHILD_OF_RELEASE,
    payload: {
      repositoryIdentifier: z.string().max(255),
      domain: Name,
      environmentName: Name,
      toReleaseName: Name.optional().meta({
        description: 'The release to go back to; what was installed before when absent',
      }),
      ...PROMOTION,
      ...RELEASED,
      releaseName: z
        .never({ error: 'is not for rollbacks: name the release to go back to as toReleaseName' })
        .optional(),
    },
  }),
  type('build', 'build', 'Build a commit', { payload: { forceBuildDomains: Names.optional() } }),
  type(ANALYZE, 'testing', 'Analyse the code of a commit, or of the head of a branch', {
    own: 'activity',
    payload: {
      force: z.boolean().optional().meta({ description: 'Replace the results that the commit has' }),
    },
  }),
  type(RECORD_SESSION, 'testing', 'Allocate a browser at the org of a pull request or environment, and record it', {
    own: 'activity',
    payload: {
      sessionId: Name.optional().meta({
        description: 'The session that the run is for; without it the run makes one where the service executes it',
      }),
    },
  }),
  type('build-domain', 'build', 'The part of a build that concerns one domain', { isInternal: true }),
  type('validate-domain', 'build', 'The part of a validation that concerns one domain', { isInternal: true }),
  type(CASCADE_MERGE, 'cascade', 'Merge a branch into the next of the cascade, or all of the cascade', {
    own: 'activity',
  }),
  type(POOL_PREPARE, 'pool', 'Prepare orgs of a review pool', { own: 'activity', payload: POOL }),
  type(POOL_PARTS.sandbox, 'pool', 'Create a sandbox for a pool', PART),
  type(POOL_PARTS.packages, 'pool', 'Install packages in an org of a pool', PART),
  type(POOL_PARTS.source, 'pool', 'Deploy source to an org of a pool', PART),
  type(POOL_PARTS.command, 'pool', 'Run a command for an org of a pool', { ...PART, own: undefined }),
] as const;

/** Types that the service itself executes. */
export type OperationId = Extract<(typeof FLOW_TYPES)[number], { own: 'activity' }>['id'];

const byId = new Map<string, FlowType>(FLOW_TYPES.map((each) => [each.id, each]));

/** The type of that id, or undefined: external workers may report runs of types of their own. */
export const flowType = (id: string): FlowType | undefined => byId.get(id);
