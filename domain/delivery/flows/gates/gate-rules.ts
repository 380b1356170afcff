import {
  type ApprovalPolicy,
  type EnvironmentPolicies,
  policyOf,
  type PolicySource,
} from '../../../projects/policies/approval-policy-rules.ts';
import { fold } from '../../../kernel/text/fold-rules.ts';
import { matchesPattern } from '../../../kernel/text/pattern-rules.ts';
import type { TargetNames } from '../target-name-rules.ts';

/**
 * What runs of a type change: an org (or sandbox), which may be unknown here, an environment, all release environments
 * of the project unless some are named, or none of these.
 */
export type FlowTarget = 'org' | 'sandbox' | 'environment' | 'release' | 'none';

export interface GatedType {
  gates: { approval: boolean; lock: boolean };
  target: FlowTarget;
}

/** An environment that a payload may name. */
export interface KnownEnvironment extends EnvironmentPolicies {
  id: string;
  projectId: string;
  name: string;
  category: string;
  orgUsername: string | null;
  branch: string;
  isActive: boolean;
}

/**
 * A type as it is gated when `executor` executes it. A release passes its gates in its children, one for each
 * environment; executed as a whole, by a pipeline or a command, it passes those of all of them.
 */
export const gatedAs = (
  { gates, target, own }: GatedType & { own: string | undefined },
  executor: string | undefined,
): GatedType =>
  own === 'children' && executor !== 'children'
    ? { gates: { approval: true, lock: true }, target: 'release' }
    : { gates, target };

export interface GateFacts {
  type: GatedType;
  /** The environment that the payload names as such; null: it names none. */
  environmentId: string | null;
  names: TargetNames;
  /** The project of the payload; null: it names none. */
  project: { id: string; approvalPolicy: ApprovalPolicy | null } | null;
  /** Environments of the project, and the ones of the tenant that the names may mean. */
  environments: readonly KnownEnvironment[];
  /** Branch of the release that the run deploys to all release environments which take it; undefined: it is not known. */
  releaseBranch?: string | undefined;
  /** Ids of the only projects that whoever requested the run reaches; absent: all. */
  limitedTo?: readonly string[] | undefined;
}

/** The gates that a run passes. */
export interface RunGates {
  /** The environments that the run is about; the one that its payload names as such is the first. */
  environmentIds: string[];
  /** The policies that an approval satisfies; empty: the type has no such gate. */
  policies: PolicySource[];
  /** The environments whose locks the run holds, in the order in which it takes them. */
  lockIds: string[];
  /** The run is refused: members of the payload that are missing, with what they would say. */
  missing: { member: string; detail: string }[];
  /** The run is refused: it is about environments of projects that whoever requested it does not reach. */
  isBeyondLimit: boolean;
}

/** A pattern that matches every branch says nothing about one. */
const isCatchAll = (pattern: string): boolean => /^\*+(\/\*+)*$/.test(pattern.trim());

/** Environments of the payload's project go before those of others that have the same org. */
function narrowed(found: readonly KnownEnvironment[], { project }: GateFacts): readonly KnownEnvironment[] {
  const own = found.filter(({ projectId }) => projectId === project?.id);
  return own.length > 0 ? own : found;
}

const orgOf = ({ orgUsername }: KnownEnvironment): string | undefined =>
  orgUsername === null ? undefined : fold(orgUsername).replaceAll(/\s/g, '');

/** Finds environments by a word: payloads may name thousands. */
function indexed(
  environments: readonly KnownEnvironment[],
  wordsOf: (each: KnownEnvironment) => readonly (string | undefined)[],
): (word: string) => readonly KnownEnvironment[] {
  const index = new Map<string, KnownEnvironment[]>();
  for (const each of environments)
    for (const word of new Set(wordsOf(each)))
      if (word !== undefined) index.set(word, [...(index.get(word) ?? []), each]);
  return (word) => index.get(word) ?? [];
}

/** What follows each dot of an org's username: the name of a sandbox, which may have dots. */
const endsOf = (org = ''): string[] => org.split('.').map((_, index, parts) => parts.slice(index + 1).join('.'));

/** How words in payloads mean environments. */
function meanings(facts: GateFacts) {
  const { environments, names, project } = facts;
  const { production } = names;
  const own = environments.filter(({ projectId }) => projectId === project?.id);
  const byId = indexed(environments, ({ id }) => [id]);
  const byOwnName = indexed(own, ({ name }) => [fold(name)]);
  const byOrg = indexed(environments, (each) => [orgOf(each)]);
  const byOrgOrId = indexed(environments, (each) => [orgOf(each), each.id]);
  const byEnd = indexed(environments, (each) => endsOf(orgOf(each)));
  return {
    ofName: (name: string) => [...byId(name), ...byOwnName(name)],
    ofOrg: (username: string) => narrowed(byOrg(username), facts),
    ofMention: (word: string) => narrowed(byOrgOrId(word), facts),
    /** `isKnown`: one of them is the sandbox of the production org that is named, if one is. */
    ofSandbox(sandbox: string): { meant: readonly KnownEnvironment[]; isKnown: boolean } {
      const suffixed = byEnd(sandbox);
      const exact = suffixed.filter((each) => orgOf(each) === `${production}.${sandbox}`);
      // Another user of the same production org, as far as its address says.
      const host = production?.split('@')[1];
      const isOfProduction = (each: KnownEnvironment) => orgOf(each)?.endsWith(`@${host}.${sandbox}`) === true;
      const named = byOwnName(sandbox).filter(({ orgUsername }) => orgUsername === null);
      return {
        meant: [...narrowed(exact.length > 0 ? exact : suffixed, facts), ...named],
        isKnown: named.length > 0 || (production === undefined ? suffixed.length > 0 : suffixed.some(isOfProduction)),
      };
    },
  };
}

const isEnvironmentNeeded = (target: FlowTarget): boolean => target === 'environment' || target === 'release';

const takesRelease = ({ isActive, category, branch: pattern }: KnownEnvironment, branch: string | undefined): boolean =>
  isActive && category === 'release' && (branch === undefined || matchesPattern(pattern, branch));

/**
 * The environments that a run is about: those that any name in its payload means. What is named and means none is
 * `isUnknown`. Only a payload without any name is about the environments to which its branch is deployed.
 */
function targetsOf(facts: GateFacts): { found: KnownEnvironment[]; isUnknown: boolean } {
  const { type, names, environments, environmentId, project } = facts;
  const explicit = environments.filter(({ id }) => id === environmentId);
  const { ofName, ofOrg, ofSandbox, ofMention } = meanings(facts);
  const sandboxes = [...names.sandboxes].map(ofSandbox);
  const named = [...[...names.environments].map(ofName), ...[...names.orgs].map(ofOrg)];
  const mentioned = [...names.mentions].map(ofMention);
  const found = new Set([explicit, ...named, ...sandboxes.map(({ meant }) => meant), ...mentioned].flat());
  const isUnknown =
    named.some((meant) => meant.length === 0) ||
    sandboxes.some(({ isKnown }) => !isKnown) ||
    (environmentId !== null && explicit.length === 0);
  const perhaps = environments.filter((each) => each.projectId === project?.id && names.perhaps.has(fold(each.name)));
  if (!isEnvironmentNeeded(type.target)) for (const each of perhaps) found.add(each);
  if (type.target === 'release' && names.environments.size === 0)
    for (const each of environments)
      if (each.projectId === project?.id && takesRelease(each, facts.releaseBranch)) found.add(each);
  const { branch } = names;
  if (found.size === 0 && !isUnknown && branch !== undefined) {
    for (const each of environments)
      if (each.projectId === project?.id && each.isActive && !isCatchAll(each.branch))
        if (matchesPattern(each.branch.trim(), branch)) found.add(each);
  }
  if (found.size > 0) for (const each of perhaps) found.add(each);
  return { found: [...found], isUnknown };
}

/** The policy that an approval satisfies for an environment. */
export const policySourceOf = (environment: EnvironmentPolicies & { category: string }): PolicySource => ({
  policy: policyOf(environment),
  isForRelease: environment.category === 'release',
});

/** Why a run with something missing is refused, for people. */
export const whyMissing = ({ missing }: RunGates): string =>
  missing.map(({ member, detail }) => `${member} is missing. ${detail}`).join('; ');

/** Why a run is refused, for people; undefined: it is not. */
export function whyRefused(gates: RunGates): string | undefined {
  if (gates.isBeyondLimit)
    return 'The application token that requested the run is limited to projects, and the run is about another one, or an environment of one';
  return gates.missing.length > 0 ? whyMissing(gates) : undefined;
}

/**
 * Decides which gates a run passes. A type that has a gate passes it always:
 * - several environments: the run holds the lock of each, and one approval satisfies the policies of all;
 * - an environment without a policy has that of its project; where neither has one, nobody is asked;
 * - a target that is no environment here, or none at all: the policy of the payload's project, else the owners; it has
 *   no lock. A type that deploys to environments is refused when none is found;
 * - what an application token requests that is limited to projects is refused where it is about those of others.
 */
export function gatesOf(facts: GateFacts): RunGates {
  const { type, project, environmentId, limitedTo } = facts;
  const { gates, target } = type;
  const { found, isUnknown } = targetsOf(facts);
  const projectIds = [...(project ? [project.id] : []), ...found.map(({ projectId }) => projectId)];
  const isBeyondLimit = limitedTo !== undefined && projectIds.some((id) => !limitedTo.includes(id));
  const none = { policies: [], lockIds: [], missing: [], isBeyondLimit };
  if (!gates.approval && !gates.lock) return { ...none, environmentIds: environmentId === null ? [] : [environmentId] };
  const environmentIds = found.map(({ id }) => id);
  if (found.length === 0 && isEnvironmentNeeded(target)) {
    const detail =
      'The flow type deploys to an environment: name it, or an org, sandbox or branch by which one of the project is found';
    const member = target === 'release' ? 'environmentNames' : 'environmentName';
    return { ...none, environmentIds, missing: [{ member, detail }] };
  }
  const policies = found.map(policySourceOf);
  if (isUnknown || found.length === 0) policies.push({ policy: project?.approvalPolicy ?? null, isForRelease: true });
  return {
    environmentIds,
    policies: gates.approval ? policies : [],
    // In one order for all runs, so that no two wait for each other.
    lockIds: gates.lock ? environmentIds.toSorted() : [],
    missing: [],
    isBeyondLimit,
  };
}
