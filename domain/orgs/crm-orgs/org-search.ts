import type { CrmAnswer, CrmFailure } from '../crm/crm-platform.port.ts';
import { failure as crmFailure } from '../crm/platform-error-rules.ts';
import { eachAtOnce } from '../../kernel/shared/at-once-rules.ts';
import type { OrgRow } from './crm-orgs.queries.ts';
import { platformFailed } from './tokens/org-failure-rules.ts';

/** Registered orgs that one search asks at once. */
const ASKED_AT_ONCE = 8;
const SEARCH_MS = 10_000;

const TOO_SLOW = crmFailure('timeout', null, 'It did not answer in time.', 'Try again, or name the org to ask.');

/**
 * Asks orgs for something until one has what `isEnough`, all were asked, or the time is up. Answers who has it, in the
 * order of the orgs. Throws `upstream_error` and `upstream_timeout` when nobody has it and somebody did not answer.
 */
export async function searchOrgs<Value>(
  orgs: readonly OrgRow[],
  what: string,
  ask: (org: OrgRow, signal: AbortSignal) => Promise<CrmAnswer<Value | null>>,
  { isEnough }: { isEnough: (value: Value) => boolean },
): Promise<{ org: OrgRow; value: Value }[]> {
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(SEARCH_MS)]);
  // A token that is being minted does not end with the search: others wait for it.
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The search has ended')), { once: true });
  });
  aborted.catch(() => undefined);
  const found: { org: OrgRow; value: Value }[] = [];
  const failures: { org: OrgRow; failure: CrmFailure }[] = [];
  await eachAtOnce(orgs, ASKED_AT_ONCE, async (org) => {
    const answer = await Promise.race([ask(org, signal), aborted]).catch((error: unknown) => {
      if (signal.aborted) return TOO_SLOW;
      throw error;
    });
    if (!answer.isOk) failures.push({ org, failure: answer });
    else if (answer.value !== null) found.push({ org, value: answer.value });
    if (found.some(({ value }) => isEnough(value))) ended.abort();
  });
  const [failed] = failures;
  // One that does not answer might have it, too; that counts only while no other one has it.
  if (found.length === 0 && failed)
    throw platformFailed(`Org ${failed.org.username} was asked for ${what}`, failed.failure);
  return found.toSorted((left, right) => orgs.indexOf(left.org) - orgs.indexOf(right.org));
}
