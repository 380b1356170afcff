import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { ProblemError } from '@quayside/client';
import { t } from '../../messages/messages.ts';
import { Button } from './button.tsx';
import { Freshness } from './freshness.tsx';
import styles from './page.module.css';

interface PageProps {
  title: string;
  /** Beside the title: what it is, in one state. */
  aside?: ReactNode;
  /** What can be done with all of it. */
  actions?: ReactNode;
  /** The questions that the page shows the answers of: it says how old these are. */
  asked: readonly Pick<UseQueryResult, 'dataUpdatedAt' | 'isFetching'>[];
  children: ReactNode;
}

/** A page: its heading, how fresh it is, what can be done, and its content. */
export function Page({ title, aside, actions, asked, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – ${t.shell.product}`;
  }, [title]);
  return (
    <>
      <header className={styles.header}>
        <div className={styles.title}>
          <h1>{title}</h1>
          {aside}
        </div>
        <div className={styles.actions}>
          <Freshness asked={asked} />
          {actions}
        </div>
      </header>
      {children}
    </>
  );
}

interface AnsweredProps<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
  /** Rows of the empty form that stands while it is loaded. */
  rows?: number;
}

/**
 * What a question is answered with: until then an empty form, and what went wrong where there is no answer. The answer to
 * another question, which stays while this one is on its way, can only be looked at.
 */
export function Answered<Data>({ query, children, rows = 6 }: AnsweredProps<Data>) {
  const { data, error, refetch, isFetching, isPlaceholderData } = query;
  if (data !== undefined)
    return (
      <>
        {error && <Failed error={error} onAgain={() => void refetch()} isAsking={isFetching} />}
        <div className={styles.answer} aria-busy={isPlaceholderData || undefined} inert={isPlaceholderData}>
          {children(data)}
        </div>
      </>
    );
  if (error) return <Failed error={error} onAgain={() => void refetch()} isAsking={isFetching} />;
  return <Loading rows={rows} />;
}

export const Loading = ({ rows = 6 }: { rows?: number }) => (
  <div className={styles.loading} role="status" aria-label={t.parts.loading}>
    {Array.from({ length: rows }, (_, row) => (
      <span key={row} />
    ))}
  </div>
);

const isMissing = (error: Error): boolean => error instanceof ProblemError && error.problem.status === 404;

function saidOf(error: Error): string {
  if (!(error instanceof ProblemError)) return error.message;
  return error.problem.status === 0 ? t.parts.unreachable : error.problem.detail;
}

export function Failed({ error, onAgain, isAsking }: { error: Error; onAgain: () => void; isAsking: boolean }) {
  if (isMissing(error)) return <Empty title={t.parts.notFound}>{t.parts.notFoundHint}</Empty>;
  const requestId = error instanceof ProblemError ? error.problem.requestId : '';
  return (
    <div className={styles.failed} role="alert">
      <h2>{t.parts.failed}</h2>
      <p>{saidOf(error)}</p>
      {requestId && <small>{t.parts.requestId(requestId)}</small>}
      <div>
        <Button onClick={onAgain} isActing={isAsking}>
          {t.parts.again}
        </Button>
      </div>
    </div>
  );
}

/** Nothing to show, and what to do about it. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className={styles.empty}>
    <h2>{title}</h2>
    {children && <div>{children}</div>}
  </div>
);

/** A part of a page with its own heading. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <header>
        <h2>{title}</h2>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Filters in a row above a list; they stand in the address. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <div className={styles.filters} role="search">
    {children}
  </div>
);

/** Names and what they are, such as the members of something. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ReactNode] | undefined)[] }) => (
  <dl className={styles.facts}>
    {facts
      .filter((fact) => fact !== undefined)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
