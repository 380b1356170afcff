import type { ApprovalStatus } from '../../delivery/approvals/approval-rules.ts';
import { LINKS_OF_APPROVAL } from './event-family-rules.ts';
import { APPROVE_ACTION, REJECT_ACTION } from './inbound-rules.ts';
import {
  actions,
  button,
  type ChatBlock,
  type ChatMessage,
  context,
  escaped,
  facts,
  header,
  message,
  section,
} from './message-rules.ts';
import { addressedLink, readerLink } from './reader-link-rules.ts';

/** What messages show of an approval: a row of it, or the data of its events. */
export interface ShownApproval {
  id: string;
  taskType: string;
  repositoryIdentifier?: string | null | undefined;
  environmentName?: string | null | undefined;
  domain?: string | null | undefined;
  releaseName?: string | null | undefined;
  /** Username of the org of its environment. */
  orgUsername?: string | null | undefined;
  /** What the release has: package name to version. */
  packages?: Readonly<Record<string, string>> | undefined;
  status: string;
  approvers?: readonly string[] | undefined;
  requestedBy: string;
  resolvedBy?: string | null | undefined;
  comment?: string | null | undefined;
  minApprovals?: number | undefined;
  /** Approvals given so far. */
  given?: number | undefined;
  /** The work item that its run names. */
  workItem?: { key: string; title: string | null; url: string | null } | null | undefined;
}

const WORDS: Record<ApprovalStatus, string> = {
  requested: 'Approval requested',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Approval expired',
  stale: 'Approval no longer needed',
};

const wordOf = (status: string): string => (status in WORDS ? WORDS[status as ApprovalStatus] : 'Approval');

/** What is to be approved, in a few words, as plain text. */
export const subjectOf = ({ taskType, releaseName, environmentName }: ShownApproval): string =>
  [
    releaseName ? `${taskType} of ${releaseName}` : taskType,
    ...(environmentName ? [`in ${environmentName}`] : []),
  ].join(' ');

const PACKAGES_SHOWN = 10;

const packagesText = (packages: ShownApproval['packages'] = {}): string => {
  const all = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  const shown = all.toSorted().slice(0, PACKAGES_SHOWN).join(', ');
  return all.length > PACKAGES_SHOWN ? `${shown} and ${all.length - PACKAGES_SHOWN} more` : shown;
};

const decisionButtons = (id: string): ChatBlock =>
  actions(
    button('Approve', { action_id: APPROVE_ACTION, value: id, style: 'primary' }),
    button('Reject', { action_id: REJECT_ACTION, value: id, style: 'danger' }),
  );

/** An approval with its buttons while it is open, and without them once it is decided. */
export function approvalMessage(approval: ShownApproval, publicUrl: string): ChatMessage {
  const {
    id,
    status,
    approvers = [],
    requestedBy,
    resolvedBy,
    comment,
    minApprovals = 1,
    given = 0,
    workItem,
  } = approval;
  const isOpen = status === 'requested';
  const itemText = workItem ? [workItem.key, workItem.title].filter(Boolean).join(' ') : null;
  const itemLink = workItem && addressedLink(workItem.url, itemText ?? '');
  const title = `${wordOf(status)}: ${subjectOf(approval)}`;
  const details = readerLink(LINKS_OF_APPROVAL, approval, publicUrl);
  const outcome = `${wordOf(status)}${resolvedBy ? ` by ${escaped(resolvedBy)}` : ''}${comment ? `: ${escaped(comment, 1_000)}` : ''}`;
  return message(
    escaped(title, 1_000),
    [
      header(title),
      ...facts(
        {
          Repository: approval.repositoryIdentifier,
          Environment: approval.environmentName,
          Org: approval.orgUsername,
          Release: approval.releaseName,
          Domain: approval.domain,
          Packages: packagesText(approval.packages),
          'Requested by': requestedBy,
          Approvals: minApprovals > 1 ? `${given} of ${minApprovals}` : null,
          Approvers: isOpen ? approvers.join(', ') || 'the owners' : null,
          ...(!itemLink && { 'Work item': itemText }),
        },
        itemLink ? { 'Work item': itemLink } : {},
      ),
    ],
    isOpen ? [decisionButtons(id), context(details)] : [context(`${outcome} · ${details}`)],
    'There is more than fits here.',
  );
}

/** Approvals that somebody may decide on, with buttons. */
export function approvalList(approvals: readonly ShownApproval[], total: number): ChatMessage {
  if (approvals.length === 0)
    return message('Nothing waits for you.', [context('Nothing waits for your approval.')], [], '');
  const blocks = approvals.flatMap((approval): ChatBlock[] => [
    section(`*${escaped(subjectOf(approval))}*\nrequested by ${escaped(approval.requestedBy)}`),
    decisionButtons(approval.id),
  ]);
  const more = total > approvals.length ? [context(`${total - approvals.length} more wait for you.`)] : [];
  return message(`${total} wait for your approval`, blocks, more, 'There is more than fits here.');
}
