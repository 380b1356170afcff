import type { WorkItemPlaces } from '@quayside/client';
import { t } from '../../messages/messages.ts';
import { type Column, Table } from '../../kernel/parts/table.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import styles from './work-item.module.css';

type Commit = WorkItemPlaces['commits'][number];

const SHOWN_OF_SHA = 10;

const COLUMNS: readonly Column<Commit>[] = [
  {
    name: t.workItems.commit,
    cell: ({ sha }) => <code title={sha}>{sha.slice(0, SHOWN_OF_SHA)}</code>,
    isNarrow: true,
  },
  {
    name: t.workItems.message,
    cell: ({ message, isReleasable }) => (
      <>
        {message} {!isReleasable && <span className={styles.soft}>{t.workItems.notReleasable}</span>}
      </>
    ),
  },
  { name: t.workItems.author, cell: ({ authorName }) => authorName },
  { name: t.workItems.at, cell: ({ committedAt }) => <Time at={committedAt} />, isNarrow: true },
];

/** The commits that count for a work item. */
export const Commits = ({ places: { commits, totalCommits } }: { places: WorkItemPlaces }) => (
  <details>
    <summary>
      {t.workItems.commits} ({totalCommits})
    </summary>
    <Table caption={t.workItems.commits} columns={COLUMNS} rows={commits} keyOf={({ sha }) => sha} />
    {totalCommits > commits.length && <p>{t.workItems.commitsShown(commits.length, totalCommits)}</p>}
  </details>
);
