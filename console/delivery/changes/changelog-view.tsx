import type { Changelog, Commit } from '@quayside/client';
import { isWebAddress } from '../../kernel/parts/foreign-link-rules.ts';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import type { ReactNode } from 'react';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import styles from './changes.module.css';

const COMMITS_MAX = 50;

/** The work items and commits that come, and those that would be lost. */
export function ChangelogView({ changelog }: { changelog: Changelog }) {
  const { packages, workItems, noLongerIncluded, missingChangelogPackages, summary } = changelog;
  const lost = summary.removed;
  const comes = packages.flatMap(({ added }) => added.commits);
  // Where nothing could be read, nothing is said about what comes.
  const isUnknown = missingChangelogPackages.length > 0;
  return (
    <>
      {isUnknown && (
        <Note>
          <p>
            {t.changes.unknown}: {missingChangelogPackages.join(', ')}
          </p>
          {[...new Set(packages.map(({ missingChangelog }) => missingChangelog?.message))].map(
            (said) => said && <p key={said}>{said}</p>,
          )}
        </Note>
      )}
      {(!isUnknown || comes.length > 0) && (
        <Part title={t.changes.added}>
          <WorkItems items={workItems} />
          <Commits commits={comes} total={summary.added.totalCommits} />
        </Part>
      )}
      {(lost.totalCommits > 0 || noLongerIncluded.workItems.length > 0) && (
        <Part title={t.changes.removed}>
          <WorkItems items={noLongerIncluded.workItems} />
          <Commits commits={packages.flatMap(({ removed }) => removed.commits)} total={lost.totalCommits} />
        </Part>
      )}
    </>
  );
}

/** A part of what is compared, below the heading of all of it. */
export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={styles.part}>
    <h3>{title}</h3>
    {children}
  </section>
);

interface Item {
  key: string;
  url?: string | null;
  totalCommits?: number;
}

/** Work items, each leading to where it is, and to its page elsewhere. */
export const WorkItems = ({ items }: { items: readonly Item[] }) =>
  items.length === 0 ? (
    <p className={styles.soft}>{t.changes.noWorkItems}</p>
  ) : (
    <ul className={styles.items} aria-label={t.changes.workItems}>
      {items.map(({ key, url, totalCommits }) => {
        return (
          <li key={key}>
            <PageLink to={`/work-items/${encodeURIComponent(key)}`}>{key}</PageLink>
            {isWebAddress(url) && (
              <a href={url} rel="noreferrer" target="_blank" aria-label={url}>
                ↗
              </a>
            )}
            {totalCommits !== undefined && <small>{t.changes.commitsOf(totalCommits)}</small>}
          </li>
        );
      })}
    </ul>
  );

/** Commits once each, however many packages have them. */
export function Commits({ commits, total }: { commits: readonly Commit[]; total: number }) {
  const once = [...new Map(commits.map((commit) => [commit.sha, commit])).values()];
  if (once.length === 0) return <p className={styles.soft}>{t.changes.noCommits}</p>;
  const shown = once.slice(0, COMMITS_MAX);
  return (
    <>
      <ul className={styles.commits} aria-label={t.changes.commits}>
        {shown.map(({ sha, message, authorName, committedAt }) => (
          <li key={sha}>
            <code>{sha.slice(0, 7)}</code>
            <span>{message}</span>
            <small>
              {t.changes.by(authorName)} · <Time at={committedAt} />
            </small>
          </li>
        ))}
      </ul>
      {total > shown.length && <p className={styles.soft}>{t.changes.truncated(shown.length, total)}</p>}
    </>
  );
}
