import type { FlowRunDetail } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { ForeignLink } from '../../kernel/parts/foreign-link.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Facts, Section } from '../../kernel/parts/page.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { duration } from '../../kernel/parts/time-rules.ts';
import { Time, useNow } from '../../kernel/parts/time.tsx';
import { estimateOf, isOpenRun } from './run-rules.ts';
import { pastRunsQuery } from './run.queries.ts';
import styles from './run.module.css';

/** What a run is about, how long it takes, and how long such runs usually take. */
export function RunFacts({ run }: { run: FlowRunDetail }) {
  const { workItemRef, override, rerunOfExecutionId, parentExecutionId, schedulePath, locks, cancelRequestedAt } = run;
  const known = (name: string, value: string | null) => (value === null ? undefined : ([name, value] as const));
  const anotherRun = (name: string, id: string | null) =>
    id === null ? undefined : ([name, <PageLink to={`/runs/${id}`}>{t.run.anotherRun}</PageLink>] as const);
  return (
    <Section title={t.run.facts}>
      <Facts
        facts={[
          known(t.run.project, run.projectIdentifier),
          known(t.run.environment, run.environmentName),
          known(t.run.domain, run.domain),
          [t.run.by, run.triggeredBy],
          [t.run.requested, <Time at={run.createdAt} />],
          [isOpenRun(run.status) ? t.run.soFar : t.run.took, <Took run={run} />],
          [t.run.usual, <Usual run={run} />],
          run.progress ? [t.run.progress, progressOf(run.progress)] : undefined,
          workItemRef
            ? [t.run.workItem, <ForeignLink href={workItemRef.url}>{workItemRef.key}</ForeignLink>]
            : undefined,
          anotherRun(t.run.rerunOf, rerunOfExecutionId),
          anotherRun(t.run.parent, parentExecutionId),
          known(t.run.schedule, schedulePath),
          locks.length > 0 ? [t.run.locks, locks.map(({ lockKey }) => lockKey).join(', ')] : undefined,
          override ? [t.run.override, t.run.overrideBy(override.by, override.reason)] : undefined,
          cancelRequestedAt === null ? undefined : [t.run.cancelAsked, <Time at={cancelRequestedAt} />],
        ]}
      />
      <Remarks title={t.run.warnings} said={run.warnings.map(({ message }) => message)} />
      <Remarks title={t.run.violations} said={run.policyViolations.map(({ detail }) => detail)} />
    </Section>
  );
}

const progressOf = ({ step, percent }: NonNullable<FlowRunDetail['progress']>): string =>
  percent === undefined ? step : `${step}, ${t.run.percent(percent)}`;

/** A run that goes on is measured by the clock, as its own figure is from when it was asked. */
function useTookMs({ status, startedAt, durationMs }: FlowRunDetail): number | null {
  const now = useNow();
  return status === 'Running' && startedAt !== null ? Math.max(0, now - Date.parse(startedAt)) : durationMs;
}

function Took({ run }: { run: FlowRunDetail }) {
  const tookMs = useTookMs(run);
  return <>{tookMs === null ? t.parts.none : duration(tookMs)}</>;
}

function Usual({ run }: { run: FlowRunDetail }) {
  const { data } = useQuery(pastRunsQuery(run));
  const tookMs = useTookMs(run);
  const estimate = estimateOf(run, data?.runs ?? []);
  if (!estimate) return <>{t.parts.unknown}</>;
  const leftMs = estimate.medianMs - (tookMs ?? 0);
  return (
    <>
      {t.run.usualOf(duration(estimate.medianMs), estimate.count)}
      {isOpenRun(run.status) && (
        <strong className={styles.left}>
          {leftMs >= 0 ? t.run.left(duration(leftMs)) : t.run.longer(duration(-leftMs))}
        </strong>
      )}
    </>
  );
}

const Remarks = ({ title, said }: { title: string; said: readonly string[] }) =>
  said.length === 0 ? null : (
    <Note>
      <strong>{title}</strong>
      <ul>
        {said.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </Note>
  );
