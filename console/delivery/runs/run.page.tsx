import type { FlowRunDetail } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { t } from '../../messages/messages.ts';
import { Answered, Page, Section } from '../../kernel/parts/page.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { RunActions } from './run-actions.tsx';
import { RunFacts } from './run-facts.tsx';
import { RunFailure, RunWaiting, subjectOf } from './run-failure.tsx';
import { RunOutput } from './run-output.tsx';
import { RunTable } from './run-table.tsx';
import { RunTests } from './run-tests.tsx';
import { RunTimeline } from './run-timeline.tsx';
import { toneOfRun } from './run-rules.ts';
import { childRunsQuery, runQuery } from './run.queries.ts';
import styles from './run.module.css';

/** Why did it fail, or how far is it? */
export function RunPage() {
  const { id = '' } = useParams({ strict: false });
  const run = useQuery({ ...runQuery(id), placeholderData: undefined });
  const { data } = run;
  return (
    <Page
      title={data ? subjectOf(data) : t.runs.run}
      aside={data && <Status tone={toneOfRun(data.status)}>{t.run.states[data.rawStatus]}</Status>}
      actions={data && <RunActions key={id} run={data} />}
      asked={[run]}
    >
      <Answered query={run}>{(found) => <Details key={id} run={found} />}</Answered>
    </Page>
  );
}

function Details({ run }: { run: FlowRunDetail }) {
  const hasChildren = run.children.length > 0;
  const children = useQuery({ ...childRunsQuery(run.id), enabled: hasChildren });
  const childRuns = children.data?.runs ?? [];
  const hasFailed = run.status === 'Failed' || (run.status === 'Partial' && run.success?.error);
  return (
    <div className={styles.page}>
      {hasFailed && <RunFailure run={run} started={childRuns} />}
      <RunWaiting run={run} />
      <div className={styles.columns}>
        <RunTimeline run={run} />
        <RunFacts run={run} />
      </div>
      <RunOutput run={run} />
      {run.taskType === 'run-apex-tests' && run.endedAt !== null && <RunTests id={run.id} />}
      {hasChildren && (
        <Section title={t.run.children}>
          <Answered query={children} rows={3}>
            {({ runs, totalCount }) => (
              <>
                <RunTable runs={runs} />
                {totalCount > runs.length && <p className={styles.soft}>{t.parts.of(runs.length, totalCount)}</p>}
              </>
            )}
          </Answered>
        </Section>
      )}
      <Json title={t.run.payload} value={run.payload} />
      {Object.keys(run.result).length > 0 && <Json title={t.run.result} value={run.result} />}
    </div>
  );
}

const Json = ({ title, value }: { title: string; value: unknown }) => (
  <details className={styles.details}>
    <summary>{title}</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
    <pre className={styles.lines} tabIndex={0} role="region" aria-label={title}>
      {JSON.stringify(value, null, 2)}
    </pre>
  </details>
);
