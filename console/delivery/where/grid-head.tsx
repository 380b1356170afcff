import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import type { EnvironmentColumn } from './matrix-rules.ts';
import styles from './where.module.css';

interface GridHeadProps {
  columns: readonly { column: number; environment: EnvironmentColumn | undefined }[];
  hasBefore: boolean;
  hasAfter: boolean;
}

/** The environments, each with what holds up all that goes there. */
export const GridHead = ({ columns, hasBefore, hasAfter }: GridHeadProps) => (
  <thead>
    <tr aria-rowindex={1}>
      <th scope="col" aria-colindex={1} className={styles.corner}>
        {t.where.release}
      </th>
      {hasBefore && <td aria-hidden="true" />}
      {columns.map(({ column, environment }) => (
        <th key={environment?.environmentId ?? column} scope="col" aria-colindex={column + 2}>
          {environment && <Head environment={environment} />}
        </th>
      ))}
      {hasAfter && <td aria-hidden="true" />}
    </tr>
  </thead>
);

function Head({ environment }: { environment: EnvironmentColumn }) {
  const { environmentId, name, isLocked, heldBy, waitingLocks, frozenUntil, openApprovals, running } = environment;
  return (
    <>
      <PageLink to={`/environments/${environmentId}`} className={styles.environment} title={name}>
        {name}
      </PageLink>
      <span className={styles.heads}>
        {frozenUntil && (
          <Status tone="bad">
            {t.where.frozenUntil} <Time at={frozenUntil} />
          </Status>
        )}
        {isLocked && (
          <Status tone="wait" title={heldBy ?? undefined}>
            <span className={styles.clip}>{heldBy === null ? t.where.locked : t.where.lockedBy(heldBy)}</span>
            {waitingLocks > 0 && t.where.queue(waitingLocks)}
          </Status>
        )}
        {openApprovals > 0 && (
          <PageLink to="/inbox" className={styles.inbox}>
            <Status tone="wait">{t.where.approvals(openApprovals)}</Status>
          </PageLink>
        )}
        {running > 0 && <Status tone="busy">{t.where.running(running)}</Status>}
      </span>
    </>
  );
}
