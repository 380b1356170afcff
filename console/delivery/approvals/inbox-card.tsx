import type { ApprovalWithVotes } from '@quayside/client';
import type { ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Time, useNow } from '../../kernel/parts/time.tsx';
import { expiryOf, givenOf, nameOf, toneOfApproval } from './inbox-rules.ts';
import styles from './inbox.module.css';

export const titleOf = (approval: ApprovalWithVotes): string =>
  approval.environmentName === null ? nameOf(approval) : t.inbox.to(nameOf(approval), approval.environmentName);

interface InboxCardProps {
  approval: ApprovalWithVotes;
  /** Why one may not decide it is said. */
  saysWhyNot: boolean;
  children?: ReactNode;
}

/** An approval: what would go where and change what, who asks, until when, and who has voted. */
export function InboxCard({ approval, saysWhyNot, children }: InboxCardProps) {
  const { status, domain, repositoryIdentifier, taskType, releaseName, override, canDecide, executionId } = approval;
  const subject = [repositoryIdentifier, domain !== null && t.inbox.domain(domain), releaseName !== null && taskType];
  const isOpen = status === 'requested';
  return (
    <article className={styles.card} aria-label={titleOf(approval)}>
      <div className={styles.head}>
        <h2>{titleOf(approval)}</h2>
        {isOpen ? <Expires approval={approval} /> : <State approval={approval} />}
      </div>
      <p className={styles.soft}>
        {subject.filter(Boolean).join(' · ')} · <PageLink to={`/runs/${executionId}`}>{t.inbox.run}</PageLink>
      </p>
      {approval.changes !== undefined && <Changes changes={approval.changes} />}
      <p>
        {t.inbox.askedBy(approval.requestedBy)} <Time at={approval.requestedAt} />
        {isOpen && (
          <>
            {' · '}
            {t.inbox.votes(givenOf(approval), approval.minApprovals)}
            {' · '}
            {t.inbox.approvers(approval.approvers.join(', ') || t.inbox.owners)}
          </>
        )}
      </p>
      {approval.votes.length > 0 && <Votes approval={approval} />}
      {!isOpen && approval.votes.length === 0 && approval.comment && <p className={styles.quote}>{approval.comment}</p>}
      {override && <Note>{t.inbox.override(override.by, override.reason)}</Note>}
      {saysWhyNot && isOpen && !canDecide.allowed && canDecide.reason && (
        <p className={styles.soft}>{t.inbox.youMayNot(canDecide.reason)}</p>
      )}
      {children}
    </article>
  );
}

const Changes = ({ changes }: { changes: NonNullable<ApprovalWithVotes['changes']> | null }) =>
  changes === null ? null : (
    <p className={styles.changes}>{t.inbox.changes(changes.packages, changes.commits, changes.workItems)}</p>
  );

const State = ({ approval: { status, resolvedBy, resolvedAt } }: { approval: ApprovalWithVotes }) => (
  <>
    <Status tone={toneOfApproval(status)}>{t.inbox.statuses[status]}</Status>
    <span className={styles.soft}>
      {resolvedBy} {resolvedAt && <Time at={resolvedAt} />}
    </span>
  </>
);

function Expires({ approval }: { approval: ApprovalWithVotes }) {
  const expiry = expiryOf(approval, useNow());
  const words = { over: t.inbox.overdue, soon: t.inbox.expiresSoon, later: t.inbox.expires };
  return (
    <Status tone={expiry === 'later' ? 'idle' : 'bad'}>
      {words[expiry]} {expiry !== 'over' && <Time at={approval.expiresAt} />}
    </Status>
  );
}

const Votes = ({ approval: { votes } }: { approval: ApprovalWithVotes }) => (
  <ul className={styles.votes}>
    {votes.map(({ decision, by, comment, at }) => (
      <li key={`${by} ${at}`}>
        <Status tone={decision === 'approve' ? 'good' : 'bad'}>{t.inbox.vote[decision]}</Status> {by} <Time at={at} />
        {comment && <span className={styles.quote}>{comment}</span>}
      </li>
    ))}
  </ul>
);
