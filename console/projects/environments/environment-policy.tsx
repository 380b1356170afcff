import type { EnvironmentWithWarnings } from '@quayside/client';
import { Facts } from '../../kernel/parts/page.tsx';
import { duration, exactTime } from '../../kernel/parts/time-rules.ts';
import { t } from '../../messages/messages.ts';

const words = t.environments;

/** When something may go to an environment, as it is set there; what a project sets for all of its environments is not in it. */
export function EnvironmentPolicy({
  environment: { approvalPolicy, promotion },
}: {
  environment: Pick<EnvironmentWithWarnings, 'approvalPolicy' | 'promotion'>;
}) {
  const { after = [], soakMinutes = 0, windows = [], freezes = [] } = promotion ?? {};
  return (
    <Facts
      facts={[
        [words.approval, approvalText(approvalPolicy)],
        after.length > 0 ? [words.after, after.join(', ')] : undefined,
        soakMinutes > 0 ? [words.soak, duration(soakMinutes * 60_000)] : undefined,
        [
          words.windows,
          windows.length === 0
            ? words.windowsAny
            : windows
                .map(({ days, from, to, timezone }) => words.window(days.join(' '), from, to, timezone))
                .join(' · '),
        ],
        freezes.length > 0
          ? [
              words.freezes,
              freezes.map(({ from, to, reason }) => words.freeze(exactTime(from), exactTime(to), reason)).join(' · '),
            ]
          : undefined,
      ]}
    />
  );
}

function approvalText(policy: EnvironmentWithWarnings['approvalPolicy']): string {
  if (policy?.skipApproval) return words.approvalNone;
  const who = policy?.approvers?.length ? policy.approvers.join(', ') : words.owners;
  return words.approvalBy(who, policy?.minApprovals ?? 1);
}
