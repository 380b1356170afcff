import type { Environment, FlowDryRun, FlowRun, FlowRuns } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

/** A release, as runs name it. */
export interface ReleaseInProject {
  repositoryIdentifier: string;
  domain: string;
  releaseName: string;
}

export interface StartOptions {
  failOutsideWindow?: boolean;
  /** By which an owner passes the policy of the environment. */
  overrideReason?: string | undefined;
  /** Environments to which it is taken first. */
  first?: readonly string[];
}

export type StartPayload = Record<string, unknown> & { id: string };

/** The payload that takes a release to an environment: `execute-release` tells its gates, `request-release` waits at them. */
export function startPayload(
  type: 'execute-release' | 'request-release',
  { repositoryIdentifier, domain, releaseName }: ReleaseInProject,
  environmentName: string,
  { failOutsideWindow = false, overrideReason, first = [] }: StartOptions = {},
): StartPayload {
  const reason = overrideReason?.trim();
  return {
    id: type,
    repositoryIdentifier,
    domain,
    releaseName,
    ...(type === 'execute-release' ? { environmentName } : { environmentNames: [...first, environmentName] }),
    ...(failOutsideWindow && { failOutsideWindow: true }),
    ...(reason && { override: { reason } }),
  };
}

/** The same request as a line of the command line. */
export const requestArguments = (
  { repositoryIdentifier, domain, releaseName }: ReleaseInProject,
  environmentName: string,
  { failOutsideWindow = false, overrideReason, first = [] }: StartOptions = {},
): readonly string[] => [
  'release',
  'request',
  releaseName,
  '--repository',
  repositoryIdentifier,
  '--domain',
  domain,
  ...[...first, environmentName].flatMap((name) => ['--environment', name]),
  ...(failOutsideWindow ? ['--fail-outside-window'] : []),
  ...(overrideReason?.trim() ? ['--override', overrideReason.trim()] : []),
];

/** What stands between a release and an environment: passed (`good`), not asked for (`idle`), waited for, or in the way. */
export type Gate = { tone: Tone } & (
  | { kind: 'hold'; reason?: string; until?: string | null; source?: 'person' | 'verification' }
  | { kind: 'after'; missing?: readonly string[]; reason?: string | null }
  | { kind: 'soak'; endsAt?: string | null }
  | { kind: 'approval'; approvers?: readonly string[]; minApprovals?: number; expiresAt?: string }
  | { kind: 'window'; nextWindowAt?: string | null; reason?: string | null; fails?: boolean }
  | { kind: 'lock'; heldBy?: string | null; position?: number; estimatedWaitSeconds?: number | null }
  | { kind: 'executor'; executor: FlowDryRun['executor'] }
);

/**
 * The gates in the order in which a run comes to them. A run that fails outside of windows does not wait for one; one that
 * goes first to where it must be deployed before waits for itself.
 */
export function gatesOf(
  { gates, hold, executor }: Pick<FlowDryRun, 'gates' | 'hold' | 'executor'>,
  failOutsideWindow = false,
  goesFirst = false,
): readonly Gate[] {
  const { approval, after, soak, window, lock } = gates ?? {
    approval: null,
    after: null,
    soak: null,
    window: null,
    lock: null,
  };
  return [
    hold
      ? { kind: 'hold', tone: 'bad', reason: hold.reason, until: hold.until, source: hold.source }
      : { kind: 'hold', tone: 'good' },
    after
      ? {
          kind: 'after',
          tone: after.reason === null ? 'good' : goesFirst ? 'wait' : 'bad',
          missing: after.missing,
          reason: after.reason,
        }
      : { kind: 'after', tone: 'idle' },
    soak
      ? { kind: 'soak', tone: soak.endsAt || after?.reason ? 'wait' : 'good', endsAt: soak.endsAt }
      : { kind: 'soak', tone: 'idle' },
    approval ? { kind: 'approval', tone: 'wait', ...approval } : { kind: 'approval', tone: 'idle' },
    window
      ? {
          kind: 'window',
          tone: window.isOpen ? 'good' : failOutsideWindow ? 'bad' : 'wait',
          nextWindowAt: window.nextWindowAt,
          reason: window.reason,
          fails: !window.isOpen && failOutsideWindow,
        }
      : { kind: 'window', tone: 'idle' },
    lock
      ? {
          kind: 'lock',
          tone: lock.position === 0 ? 'good' : 'wait',
          heldBy: lock.heldBy,
          position: lock.position,
          estimatedWaitSeconds: lock.estimatedWaitSeconds,
        }
      : { kind: 'lock', tone: 'idle' },
    { kind: 'executor', tone: executor === null ? 'bad' : 'good', executor },
  ];
}

export type Verdict = { can: 'now' | 'waits' } | { can: 'no'; reason: string | undefined };

type Answer = Pick<FlowDryRun, 'gates' | 'refusal' | 'wouldStart'>;

/**
 * Whether a release can go. `told` is the answer for `execute-release`, which knows the gates, `requested` that for the run
 * that would be started, which waits for a soak, and for what it deploys elsewhere first, where the other one is refused.
 */
export function verdictOf(
  told: Answer,
  requested: Answer,
  gates: readonly Gate[],
  goesElsewhereFirst = false,
): Verdict {
  if (!requested.wouldStart) return { can: 'no', reason: requested.refusal?.detail };
  const isBlocked = gates.some(({ tone }) => tone === 'bad');
  const waitsOnly = goesElsewhereFirst || told.gates?.soak?.endsAt != null;
  if (isBlocked || (!told.wouldStart && !waitsOnly)) return { can: 'no', reason: told.refusal?.detail };
  return { can: gates.some(({ tone }) => tone === 'wait') ? 'waits' : 'now' };
}

/** The time zones in which the windows of an environment are written, each once. */
export const zonesOf = ({ promotion }: Pick<Environment, 'promotion'>): readonly string[] => [
  ...new Set((promotion?.windows ?? []).map(({ timezone }) => timezone)),
];

/** Those of the open runs of a release that take it to an environment, by name or to several; of a run and its parts the part. */
export const runsThere = <
  Run extends Pick<FlowRun, 'id' | 'category' | 'environmentName' | 'taskType' | 'parentExecutionId'>,
>(
  runs: readonly Run[],
  environmentName: string,
): readonly Run[] => {
  const there = runs.filter(
    ({ category, environmentName: where, taskType }) =>
      category === 'release' && (where === environmentName || (where === null && taskType === 'request-release')),
  );
  return there.filter(({ id }) => !there.some(({ parentExecutionId }) => parentExecutionId === id));
};

/** Whether there are more open runs than were asked for. */
export const hasMoreRuns = ({
  runs,
  totalCount,
  totalCountIsExact,
}: Pick<FlowRuns, 'totalCount' | 'totalCountIsExact'> & { runs: readonly unknown[] }): boolean =>
  totalCount > runs.length || !totalCountIsExact;
