import type { ApexClassCoverage, ApexTestResult } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { type Column, Table } from '../../kernel/parts/table.tsx';
import { coverageQuery, failedTestsQuery } from './run.queries.ts';
import styles from './run.module.css';

const percentOf = (percent: number | null): string => (percent === null ? t.parts.unknown : t.run.percent(percent));

const TESTS: readonly Column<ApexTestResult>[] = [
  { name: t.run.test, cell: ({ className, method }) => `${className}.${method}` },
  {
    name: t.run.message,
    cell: ({ message, stackTrace, history, advice }) => (
      <>
        {history?.isFlaky && <Status tone="wait">{t.run.flaky}</Status>} {message}
        {advice && <p className={styles.soft}>{advice}</p>}
        {stackTrace && <pre className={styles.lines}>{stackTrace}</pre>}
      </>
    ),
  },
];

const CLASSES: readonly Column<ApexClassCoverage>[] = [
  { name: t.run.className, cell: ({ className }) => className },
  { name: t.run.covered, cell: ({ percent }) => percentOf(percent), isNumber: true },
  { name: t.run.uncovered, cell: ({ uncovered, lines }) => t.parts.of(uncovered, lines), isNumber: true },
  {
    name: t.run.changedLines,
    cell: ({ changedLines, whyUnknown }) =>
      changedLines ? t.parts.of(changedLines.covered, changedLines.total) : (whyUnknown ?? t.parts.none),
    isNumber: true,
  },
];

/** The tests of a run that failed, and how much of the code they cover. */
export function RunTests({ id }: { id: string }) {
  const tests = useQuery(failedTestsQuery(id));
  const coverage = useQuery(coverageQuery(id));
  return (
    <>
      <Section title={t.run.tests}>
        <Answered query={tests} rows={3}>
          {({ items, passed, failed, skipped, total }) => (
            <>
              <p>
                <Status tone={failed > 0 ? 'bad' : 'good'}>{t.run.testsSummary(passed, failed, skipped)}</Status>
              </p>
              {items.length > 0 && (
                <Table
                  caption={t.run.testsCaption}
                  columns={TESTS}
                  rows={items}
                  keyOf={({ className, method }) => `${className}.${method}`}
                />
              )}
              {total > items.length && <p className={styles.soft}>{t.parts.of(items.length, total)}</p>}
            </>
          )}
        </Answered>
      </Section>
      <Section title={t.run.coverage}>
        <Answered query={coverage} rows={3}>
          {({ items, percent, lines, changedLines, whyUnknown, total }) => (
            <>
              <p>
                {lines > 0 ? t.run.coverageSummary(percentOf(percent), lines) : (whyUnknown ?? t.parts.unknown)}
                {changedLines && <> · {t.run.changedSummary(changedLines.covered, changedLines.total)}</>}
              </p>
              {items.length > 0 && (
                <Table
                  caption={t.run.coverageCaption}
                  columns={CLASSES}
                  rows={items}
                  keyOf={({ className }) => className}
                />
              )}
              {total > items.length && <p className={styles.soft}>{t.parts.of(items.length, total)}</p>}
            </>
          )}
        </Answered>
      </Section>
    </>
  );
}
