import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import styles from '../../kernel/shell/shell.module.css';
import { waitingCountQuery } from './inbox.queries.ts';

/** How many approvals wait for who is signed in; nothing where there are none. */
export function InboxBadge() {
  const { data } = useQuery(waitingCountQuery);
  if (!data || data.total === 0) return null;
  return (
    <span className={styles.badge} title={t.shell.waiting(data.total)}>
      <span aria-hidden="true">{data.total}</span>
      <span className="visually-hidden">{t.shell.waiting(data.total)}</span>
    </span>
  );
}
