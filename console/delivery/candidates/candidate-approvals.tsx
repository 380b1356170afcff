import type { ApprovalWithVotes } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { buttonClass } from '../../kernel/parts/button.tsx';
import { Section } from '../../kernel/parts/page.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { TIMELINE_SHOWN } from './candidate-timeline.tsx';
import styles from './candidates.module.css';
import { timelineQuery } from './candidates.queries.ts';

const DECIDED: ReadonlySet<string | null> = new Set(['approved', 'rejected', 'expired', 'stale']);
const TONES = { approved: 'good', rejected: 'bad', expired: 'idle', stale: 'idle' } as const;

/** The approvals that are open, with who may give them, and those that were decided. */
export function CandidateApprovals({ id, open }: { id: string; open: readonly ApprovalWithVotes[] }) {
  const { data: timeline } = useQuery(timelineQuery(id, TIMELINE_SHOWN));
  const decided = (timeline?.items ?? []).filter(({ type, status }) => type === 'approval' && DECIDED.has(status));
  if (open.length + decided.length === 0) return null;
  return (
    <Section title={t.candidates.approvals}>
      <ul className={styles.approvals}>
        {open.map(
          ({
            id: approvalId,
            environmentName,
            approvers,
            minApprovals,
            requestedBy,
            requestedAt,
            expiresAt,
            canDecide,
          }) => (
            <li key={approvalId}>
              <Status tone="wait">{t.candidates.approvalStates.requested}</Status>
              <span>
                <strong>{environmentName}</strong> · {t.candidates.ofApprovers(minApprovals, approvers.join(', '))}
                <small>
                  {t.candidates.by(requestedBy)} <Time at={requestedAt} /> · {t.gates.approvalExpires}{' '}
                  <Time at={expiresAt} />
                </small>
              </span>
              {canDecide.allowed && (
                <PageLink to="/inbox" className={buttonClass('main')}>
                  {t.candidates.decide}
                </PageLink>
              )}
            </li>
          ),
        )}
        {decided.map(({ at, by, status, environmentName, detail, approvalId }) => {
          const state = (status ?? 'expired') as keyof typeof TONES;
          return (
            <li key={`${approvalId} ${at}`}>
              <Status tone={TONES[state]}>{t.candidates.approvalStates[state]}</Status>
              <span>
                <strong>{environmentName}</strong>
                {by && <> · {t.candidates.by(by)}</>} · <Time at={at} />
                {detail && <small>{detail}</small>}
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
