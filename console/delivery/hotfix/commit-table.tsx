import { t } from '../../messages/messages.ts';
import { type Column, Table } from '../../kernel/parts/table.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import type { CommitRow, SideOnly } from './hotfix-rules.ts';
import styles from './hotfix.module.css';

const SHOWN_OF_SHA = 10;

const COLUMNS: readonly Column<CommitRow>[] = [
  { name: t.hotfix.commit, cell: ({ sha }) => <code title={sha}>{sha.slice(0, SHOWN_OF_SHA)}</code>, isNarrow: true },
  {
    name: t.hotfix.message,
    cell: ({ message, isMerge }) => (
      <>
        {message} {isMerge && <span className={styles.soft}>{t.hotfix.merge}</span>}
      </>
    ),
  },
  {
    name: t.hotfix.workItems,
    cell: ({ workItems }) => (
      <span className={styles.keys}>
        {workItems.map((key) => (
          <PageLink key={key} to={`/work-items/${encodeURIComponent(key)}`}>
            {key}
          </PageLink>
        ))}
      </span>
    ),
  },
  { name: t.hotfix.packages, cell: ({ packages }) => packages.join(', ') },
  { name: t.hotfix.author, cell: ({ authorName }) => authorName },
  { name: t.hotfix.at, cell: ({ committedAt }) => <Time at={committedAt} />, isNarrow: true },
];

interface CommitTableProps {
  caption: string;
  side: SideOnly;
  /** The commits of all packages are known: none listed means that there are none. */
  isAllKnown: boolean;
}

/** Commits that only one side has. */
export const CommitTable = ({ caption, side: { commits, total }, isAllKnown }: CommitTableProps) => (
  <>
    {commits.length === 0 ? (
      <p>{isAllKnown ? t.hotfix.none : t.hotfix.noneKnown}</p>
    ) : (
      <Table caption={caption} columns={COLUMNS} rows={commits} keyOf={({ sha }) => sha} />
    )}
    {total > commits.length && <p className={styles.soft}>{t.hotfix.shown(commits.length, total)}</p>}
  </>
);
