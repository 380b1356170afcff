import type { CrmPackageVersion, InstallOrder } from '../../orgs/crm/crm-packages.port.ts';
import type { RunOutcome } from '../flows/flow-runs.mutations.ts';
import { isEnded, type StepProgress, type StepState } from '../org-steps/org-step-rules.ts';
import type { NewStep, StepRow } from '../org-steps/org-steps.queries.ts';
import type { PlannedVersion } from './install-plan-rules.ts';

/** What a step asks an org for; stands in its row. */
export interface PackageIntent {
  act: 'install' | 'uninstall';
  versionId: string;
  name: string;
  number: string;
  /** What the org had of the package. */
  before: string | null;
  /** Why there is nothing to do; null: it is done. */
  skip: string | null;
  /** Name under which its key is stored; null: it needs none. */
  keyName: string | null;
  isUnlocked: boolean;
  /** Names by which a release candidate carries it. */
  artifacts?: readonly string[] | undefined;
  /** A rollback cannot take it back, as `skip` says. */
  isLeft?: boolean | undefined;
}

/** What the row of a step notes for a later attempt. */
export interface PackageNotes {
  /** Requests that the org had of the version before it was asked. */
  earlier?: string[];
  /** How often the org was asked for it, or whether it can be. */
  attempts?: number;
}

export const intentOf = ({ intent }: Pick<StepRow, 'intent'>): PackageIntent => intent as unknown as PackageIntent;
export const isPackageStep = (step: Pick<StepRow, 'intent'>): boolean => intentOf(step).act !== undefined;
export const notesOf = ({ result }: Pick<StepRow, 'result'>): PackageNotes => result;

const ACTS = { install: 'Install', uninstall: 'Uninstall' } as const;
const NOUNS = { install: 'installation', uninstall: 'uninstallation' } as const;

/** A step for a version. @param more what it depends on whether it is installed or uninstalled. */
export const packageStep = (
  act: PackageIntent['act'],
  { id: versionId, name, number, isUnlocked }: Pick<CrmPackageVersion, 'id' | 'name' | 'number' | 'isUnlocked'>,
  orgId: string,
  more: Pick<PackageIntent, 'before' | 'skip' | 'keyName' | 'artifacts' | 'isLeft'>,
): NewStep => {
  const intent: PackageIntent = { act, versionId, name, number, isUnlocked, ...more };
  return { name: `${ACTS[act]} ${name} ${number}`, orgId, intent: { ...intent } };
};

/** The steps of a plan. @param keyNames names of keys by version. @param artifacts those of a candidate by version. */
export const installSteps = (
  planned: readonly PlannedVersion[],
  orgId: string,
  keyNames: ReadonlyMap<string, { keyName: string }>,
  artifacts?: ReadonlyMap<string, readonly string[]>,
): NewStep[] =>
  planned.map(({ version, before, skip, isLeft }) =>
    packageStep('install', version, orgId, {
      before,
      skip,
      keyName: keyNames.get(version.id)?.keyName ?? null,
      artifacts: artifacts?.get(version.id),
      isLeft,
    }),
  );

const SECURITY = { AllUsers: 'Full', AdminsOnly: 'None' } as const;
const UPGRADES = { Mixed: 'mixed-mode', DeprecateOnly: 'deprecate-only', Delete: 'delete-only' } as const;

/** How a version is installed, by the words of the platform's own tool in the payload. The platform takes some for unlocked packages alone. */
export function installOrder(
  { versionId, isUnlocked }: PackageIntent,
  { securityType, upgradeType, apexCompile }: Readonly<Record<string, unknown>>,
  key: string | undefined,
): InstallOrder {
  const ofPackage = {
    upgradeType: UPGRADES[upgradeType as keyof typeof UPGRADES],
    apexCompile: apexCompile as InstallOrder['apexCompile'],
  };
  return {
    versionId,
    key,
    securityType: SECURITY[securityType as keyof typeof SECURITY] ?? 'None',
    ...(isUnlocked && ofPackage),
  };
}

const OUTCOMES: Readonly<Record<StepState, string>> = {
  planned: 'not_begun',
  asked: 'unknown',
  begun: 'unknown',
  succeeded: 'done',
  failed: 'failed',
  unknown: 'unknown',
  cancelled: 'not_begun',
  skipped: 'skipped',
};

/** What became of a version. */
function outcomeOf(step: StepRow): string {
  const { act, before, isLeft } = intentOf(step);
  if (step.state === 'skipped' && isLeft) return 'stays';
  if (step.state !== 'succeeded') return OUTCOMES[step.state];
  if (act === 'uninstall') return 'uninstalled';
  return before === null ? 'installed' : 'upgraded';
}

const reasonOf = ({ error, detail }: StepRow): string | null => error ?? detail;

/** What the output of a run says of its steps, one after the other. */
export const linesOfSteps = (steps: readonly StepRow[]): string[] =>
  steps.map((step) => {
    const { name, number, before, versionId } = intentOf(step);
    const outcome = isEnded(step.state) ? outcomeOf(step).replace('_', ' ') : step.state;
    const from = before === null ? '' : `, before ${before}`;
    const request = step.externalId === null ? '' : `, request ${step.externalId}`;
    const reason = reasonOf(step);
    return `${outcome}: ${name} ${number} (${versionId}${from}${request})${reason === null ? '' : `: ${reason}`}`;
  });

/** What the result of a run says of its packages. */
export const resultOfSteps = (steps: readonly StepRow[]): Record<string, unknown> => ({
  packages: steps.map((step) => {
    const { name, number, versionId, before } = intentOf(step);
    return {
      name,
      version: number,
      versionId,
      outcome: outcomeOf(step),
      before,
      requestId: step.externalId,
      reason: reasonOf(step),
    };
  }),
});

/** How a run ends whose steps have ended: it succeeds where all of them are done, or there was nothing to do. */
export function outcomeOfSteps(steps: readonly StepRow[]): RunOutcome {
  const bad = steps.find(({ state }) => state === 'failed' || state === 'unknown');
  if (!bad) return { status: 'succeeded' };
  const isDone = steps.some(({ state }) => state === 'succeeded');
  return {
    status: isDone ? 'partial' : 'failed',
    error: `${bad.name}: ${bad.error ?? ''}`,
    ...(bad.state === 'unknown' && { code: 'unknown_outcome' }),
  };
}

/** What goes on in an org whose run is cancelled: the platform cancels nothing of it. */
export const goesOn = (step: StepRow): string =>
  step.externalId === null
    ? `${step.name} may have begun in the org, and nobody can cancel it there: look at Installed Packages in Setup`
    : `${step.name} goes on in the org as ${step.externalId}: the platform cancels no ${NOUNS[intentOf(step).act]}`;

/** The step that is taken on next. */
export const firstOpen = (steps: readonly StepRow[]): StepRow | undefined => steps.find(({ state }) => !isEnded(state));

/** How many of its packages a run has done. */
export const progressOf = (steps: readonly StepRow[]): StepProgress => {
  const done = steps.filter(({ state }) => isEnded(state)).length;
  return { percent: (100 * done) / steps.length, counts: { packages: steps.length, packagesDone: done } };
};
