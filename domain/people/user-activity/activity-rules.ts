import type { BuildState } from '../../ci/builds/build-state-rules.ts';

/** Names at git hosts, in lower case, by which pull requests are found. */
export interface HostNames {
  'host-a': readonly string[];
  'host-b': readonly string[];
  'host-c': readonly string[];
}

export type IdentitySource = 'linked' | 'override' | 'none';

export interface ActivityIdentity {
  names: HostNames;
  /** The caller has an account at a git host. */
  isLinked: boolean;
  source: IdentitySource;
  /** What is missing; null when nothing is. */
  hint: string | null;
}

/** Names that the caller gives instead of those that are linked. */
export type NameOverrides = { [Host in keyof HostNames]?: string | undefined };

/** The names whose pull requests are shown: a name that is given counts instead of those of the same host. */
export function activityIdentity(
  linked: readonly { provider: string; username: string }[],
  overrides: NameOverrides,
  isUser: boolean,
): ActivityIdentity {
  const namesAt = (host: keyof HostNames): string[] => {
    const given = overrides[host];
    if (given !== undefined) return [given.toLowerCase()];
    return linked.flatMap(({ provider, username }) => (provider === host ? [username] : [])).toSorted();
  };
  const names = { 'host-a': namesAt('host-a'), 'host-b': namesAt('host-b'), 'host-c': namesAt('host-c') };
  const isOverridden = Object.values(overrides).some((name) => name !== undefined);
  const isLinked = linked.length > 0;
  const source = isOverridden ? 'override' : isLinked ? 'linked' : 'none';
  return { names, isLinked, source, hint: source === 'none' ? (isUser ? USER_HINT : APPLICATION_HINT) : null };
}

const PARAMETERS = 'githubUsername, adoUsername or gitlabUsername';
const USER_HINT = `No account at a git host is linked: link one by POST /api/auth/resolve-emails, or pass ${PARAMETERS}`;
const APPLICATION_HINT = `An application token has no account at a git host: pass ${PARAMETERS}`;

export const CHECK_STATUSES = ['queued', 'in_progress', 'completed'] as const;
export const CHECK_CONCLUSIONS = ['success', 'failure', 'cancelled'] as const;

export interface Check {
  status: (typeof CHECK_STATUSES)[number] | null;
  conclusion: (typeof CHECK_CONCLUSIONS)[number] | null;
}

const CHECKS: Record<BuildState, Check> = {
  pending: { status: 'queued', conclusion: null },
  running: { status: 'in_progress', conclusion: null },
  succeeded: { status: 'completed', conclusion: 'success' },
  failed: { status: 'completed', conclusion: 'failure' },
  cancelled: { status: 'completed', conclusion: 'cancelled' },
};

/** The builds of a commit as checks are named. */
export const checkOf = (state: BuildState | null): Check =>
  state === null ? { status: null, conclusion: null } : CHECKS[state];

/** How long it has been open, in milliseconds: until now, or until it was merged or closed. */
export const elapsedMs = (openedAt: string, endedAt: string | null, now: Date): number =>
  Math.max(0, (endedAt === null ? now.getTime() : Date.parse(endedAt)) - Date.parse(openedAt));
