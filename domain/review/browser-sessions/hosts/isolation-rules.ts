import { ISOLATIONS, type Isolation } from '../../../kernel/settings/isolation-rules.ts';

/**
 * Why a host must not allocate browsers that are kept in by `possible` alone; undefined: it may.
 * @param possible the strongest isolation that works on the host's machine.
 * @param weakest that the operator allows (`BROWSER_ISOLATION`); undefined: in production `jailed`, elsewhere any.
 */
export function refusedIsolation(
  possible: Isolation,
  { weakest, isProduction }: { weakest: Isolation | undefined; isProduction: boolean },
): string | undefined {
  if (isProduction && possible === 'none')
    return 'Nothing on this machine keeps browsers in, and production refuses that.';
  const allowed = weakest ?? (isProduction ? 'jailed' : 'none');
  if (ISOLATIONS.indexOf(possible) <= ISOLATIONS.indexOf(allowed)) return undefined;
  return `Browsers on this machine would be ${possible === 'none' ? 'kept in by nothing' : `only ${possible}`}; BROWSER_ISOLATION allows no less than ${allowed}.`;
}

/**
 * What is said of a browser: one that shares the user of its host could read what the host can, its environment and the profiles of
 * other browsers, although Chromium's own sandbox is on.
 */
export const claimedIsolation = (startedAs: Isolation, { hasOwnUser }: { hasOwnUser: boolean }): Isolation =>
  startedAs === 'sandboxed' && !hasOwnUser ? 'none' : startedAs;
