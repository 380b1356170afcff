import type { ApprovalPolicy, EnvironmentWithWarnings } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { Facts } from '../../kernel/parts/page.tsx';
import { duration, exactTime } from '../../kernel/parts/time-rules.ts';
import { t } from '../../messages/messages.ts';
import { approvalInForce } from './environment-rules.ts';
import { projectQuery } from './environments.queries.ts';

const words = t.environments;

/** When something may go to an environment; approvals as the project asks for them where the environment sets nothing. */
export function EnvironmentPolicy({
  environment,
}: {
  environment: Pick<EnvironmentWithWarnings, 'approvalPolicy' | 'promotion' | 'repositoryIdentifier'>;
}) {
  const { after = [], soakMinutes = 0, windows = [], freezes = [] } = environment.promotion ?? {};
  return (
    <Facts
      facts={[
        [words.approval, <Approval key="approval" environment={environment} />],
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

/** Whom an approval is asked of, by the policy of the environment or else by that of its project. */
function Approval({
  environment,
}: {
  environment: Pick<EnvironmentWithWarnings, 'approvalPolicy' | 'repositoryIdentifier'>;
}) {
  const { approvalPolicy, repositoryIdentifier } = environment;
  const project = useQuery({ ...projectQuery(repositoryIdentifier), enabled: approvalPolicy === null });
  const inForce = approvalInForce(approvalPolicy, project.data?.configuration);
  if (!inForce) return project.error ? words.approvalUnknown : t.parts.loading;
  const text = approvalText(inForce.policy);
  return inForce.isOfProject ? words.ofProject(text) : text;
}

function approvalText({ skipApproval, approvers, minApprovals = 1 }: ApprovalPolicy): string {
  if (skipApproval) return words.approvalNone;
  return approvers?.length
    ? words.approvalBy(approvers.join(', '), minApprovals)
    : words.approvalByOwners(minApprovals);
}
