import { createHash } from 'node:crypto';
import type { NewStep, StepRow } from '../../delivery/org-steps/org-steps.queries.ts';
import type { RunOutcome } from '../../delivery/flows/flow-runs.mutations.ts';
import { isEnded } from '../../delivery/org-steps/org-step-rules.ts';
import type { PoolRecipe } from './pool-recipe.schemas.ts';
import type { ScratchDefinition } from './scratch-definition-rules.ts';

/** What is done for each org that is made, in this order; `retire` is for one that another takes the place of. */
export const PARTS = [
  'retire',
  'create',
  'sandbox',
  'register',
  'settings',
  'packages',
  'source',
  'permissions',
  'command',
  'finish',
] as const;
export type PoolPart = (typeof PARTS)[number];

/** What the row of a step says of it before it begins. */
export interface PartIntent {
  part: PoolPart;
  /** Steps of one org have the same. */
  org: string;
  /** For `retire`. */
  username?: string;
  /** For `create`: what the dev hub is asked for, by which it can be asked whether it was. */
  mark?: string;
  fields?: ScratchDefinition['fields'];
  /** For `settings`. */
  settings?: ScratchDefinition['settings'];
  /** For `sandbox`. */
  sandboxName?: string;
  /** For `packages`, `source` and `command`. */
  commitId?: string;
  /** For the first step of a run: how many orgs are wanted, and why fewer are made. */
  asked?: number;
  whyFewer?: string | null;
}

export const intentOf = ({ intent }: Pick<StepRow, 'intent'>): PartIntent => intent as unknown as PartIntent;

/** A run makes at most so many orgs; the pool asks for more by its next run. */
export const ORGS_PER_RUN = 20;

const NAMES: Record<PoolPart, string> = {
  retire: 'Delete the scratch org that is replaced',
  create: 'Create a scratch org',
  sandbox: 'Create a sandbox',
  register: 'Sign in and register',
  settings: 'Deploy settings',
  packages: 'Install packages',
  source: 'Deploy source',
  permissions: 'Assign permission sets',
  command: "Run the operator's command",
  finish: 'Hand over to the pool',
};

export interface PlannedOrgs {
  runId: string;
  hubId: string;
  count: number;
  /** Usernames of orgs that new ones take the place of. */
  retired: readonly string[];
  recipe: PoolRecipe;
  definition: ScratchDefinition;
  commitId: string;
  asked: number;
  whyFewer: string | null;
}

/** The steps of a run: those of each org in their order. */
export function stepsOfPool({ hubId, count, retired, asked, whyFewer, ...plan }: PlannedOrgs): NewStep[] {
  const replaced = retired.map((username) => stepOf(hubId, { part: 'retire', org: username, username }));
  const made = Array.from({ length: count }, (_, index) =>
    partsFor(plan, String(index + 1)).map((intent) => stepOf(hubId, intent)),
  );
  const [first, ...rest] = [...replaced, ...made.flat()];
  return first ? [{ ...first, intent: { ...first.intent, asked, whyFewer } }, ...rest] : [];
}

const stepOf = (hubId: string, intent: PartIntent): NewStep => ({
  name: `Org ${intent.org}: ${NAMES[intent.part]}`,
  orgId: intent.part === 'create' || intent.part === 'retire' ? hubId : null,
  intent: { ...intent },
});

function partsFor(
  { runId, recipe, definition, commitId }: Pick<PlannedOrgs, 'runId' | 'recipe' | 'definition' | 'commitId'>,
  org: string,
): PartIntent[] {
  const { packages, deploySource, permissionSets, command } = recipe;
  const { fields, settings } = definition;
  return [
    recipe.newOrgs === 'sandbox'
      ? { part: 'sandbox', org, sandboxName: sandboxNameOf(runId, org) }
      : { part: 'create', org, mark: markOf(runId, org), fields },
    { part: 'register', org },
    ...(Object.keys(settings).length > 0 ? [{ part: 'settings' as const, org, settings }] : []),
    ...(Object.keys(packages).length > 0 ? [{ part: 'packages' as const, org, commitId }] : []),
    ...(deploySource ? [{ part: 'source' as const, org, commitId }] : []),
    ...(permissionSets.length > 0 ? [{ part: 'permissions' as const, org }] : []),
    ...(command ? [{ part: 'command' as const, org, commitId }] : []),
    { part: 'finish', org },
  ];
}

/** Names of sandboxes have at most ten letters and digits. */
const sandboxNameOf = (runId: string, org: string): string =>
  `rv${createHash('sha256').update(`${runId}/${org}`).digest('hex').slice(0, 8)}`;

/** What the description of a scratch org says, by which its dev hub shows it again. */
const markOf = (runId: string, org: string): string => `Quayside run ${runId}, org ${org}`;

/** The steps of each org, in their order. */
export function byOrg(steps: readonly StepRow[]): StepRow[][] {
  const groups = new Map<string, StepRow[]>();
  for (const step of steps) {
    const { org } = intentOf(step);
    groups.set(org, [...(groups.get(org) ?? []), step]);
  }
  return [...groups.values()];
}

export const partOf = (steps: readonly StepRow[], part: PoolPart): StepRow | undefined =>
  steps.find((step) => intentOf(step).part === part);

export const hasFailed = ({ state }: Pick<StepRow, 'state'>): boolean => state === 'failed' || state === 'unknown';

export const isOpen = ({ state }: Pick<StepRow, 'state'>): boolean => !isEnded(state);

/** What the step `register` keeps of the org. */
export interface RegisteredOrg {
  orgId: string;
  username: string;
  instanceUrl: string;
  platformOrgId: string;
  instanceId: string;
}

export const registeredOf = (steps: readonly StepRow[]): RegisteredOrg | undefined => {
  const step = partOf(steps, 'register');
  return step?.state === 'succeeded' ? (step.result as unknown as RegisteredOrg) : undefined;
};

/** How a run ends, all of whose steps have. */
export function outcomeOfPool(steps: readonly StepRow[]): RunOutcome {
  const { asked = 0, whyFewer = null }: Partial<PartIntent> = steps[0] ? intentOf(steps[0]) : {};
  const orgs = byOrg(steps).filter((group) => partOf(group, 'finish') !== undefined);
  const made = orgs.filter((group) => partOf(group, 'finish')?.state === 'succeeded');
  const failed = steps.filter(hasFailed);
  const result = {
    asked,
    made: made.map((group) => registeredOf(group)?.username ?? ''),
    failed: failed.map(({ name, error }) => ({ step: name, error })),
  };
  // What somebody has to delete is told before all else.
  const left = byOrg(steps).flatMap((group) => {
    const step = group.find((each) => each.result.isLeft === true);
    return step ? [`Org ${intentOf(step).org}: ${step.detail ?? ''}`] : [];
  });
  const reasons = [
    ...left,
    ...failed.map(({ name, error }) => `${name}: ${error ?? 'it failed'}`),
    ...(whyFewer ? [whyFewer] : []),
  ];
  if (reasons.length === 0) return { status: 'succeeded', result };
  return {
    status: made.length > 0 ? 'partial' : 'failed',
    error: reasons.slice(0, 3).join('; '),
    ...(failed.some(({ state }) => state === 'unknown') && { code: 'unknown_outcome' as const }),
    result,
  };
}
