import type { FlowRun, FlowRunDetail } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { approvalQuery } from '../approvals/inbox.queries.ts';
import { lastLines } from './output-rules.ts';
import { nameOfRun, reasonOf } from './run-rules.ts';
import styles from './run.module.css';

/** So much of the output usually has the reason. */
const LINES = 8;

/** Why a run failed, before everything else: in its own words, its steps', those of the runs that it started, its last lines. */
export function RunFailure({ run, started }: { run: FlowRunDetail; started: readonly FlowRun[] }) {
  const failedSteps = run.steps.filter(({ state }) => state === 'failed' || state === 'unknown');
  const failedChildren = started.filter(({ status }) => status === 'Failed');
  const said = run.success?.error;
  const lines = lastLines(run.outputTail ?? '', LINES);
  const hasNothing = !said && failedSteps.length + failedChildren.length === 0;
  return (
    <Note tone="bad">
      <h2>{t.run.failed}</h2>
      {said && <p>{said}</p>}
      {hasNothing && <p>{t.run.failedUnsaid}</p>}
      <ul>
        {failedSteps.map(({ name, error, detail }) => (
          <li key={name}>
            {t.run.failedStep(name)}: {error ?? detail ?? t.run.stepStates.unknown}
          </li>
        ))}
        {failedChildren.map((child) => (
          <li key={child.id}>
            {t.run.failedChild}: <PageLink to={`/runs/${child.id}`}>{subjectOf(child)}</PageLink> {reasonOf(child)}
          </li>
        ))}
      </ul>
      {lines !== '' && <pre className={styles.lines}>{lines}</pre>}
      {run.rawStatus === 'rejected' && (
        <Refusal approvalId={run.states.findLast(({ approvalId }) => approvalId)?.approvalId} />
      )}
    </Note>
  );
}

/** Who refused it, with their words. */
function Refusal({ approvalId }: { approvalId: string | undefined }) {
  const { data } = useQuery({ ...approvalQuery(approvalId ?? ''), enabled: approvalId !== undefined });
  const vote = data?.votes.find(({ decision }) => decision === 'reject');
  return (
    <>
      {vote && (
        <p>
          {t.inbox.vote.reject} {vote.by} <Time at={vote.at} />
        </p>
      )}
      {vote?.comment && <blockquote className={styles.quote}>{vote.comment}</blockquote>}
      <PageLink to="/inbox" search={{ tab: 'decided', status: 'rejected' }}>
        {t.run.rejectedBy}
      </PageLink>
    </>
  );
}

export const subjectOf = (run: Pick<FlowRun, 'taskType' | 'releaseName' | 'environmentName'>): string =>
  run.environmentName === null ? nameOfRun(run) : t.run.to(nameOfRun(run), run.environmentName);

/** What an open run waits for. */
export function RunWaiting({ run }: { run: FlowRunDetail }) {
  const { rawStatus, waitsFor, nextWindowAt, states } = run;
  const detail = waitsFor ?? states.at(-1)?.detail ?? t.run.waitsUnsaid[rawStatus];
  if (!detail) return null;
  return (
    <Note>
      <h2>{t.run.waits}</h2>
      <p>{detail}</p>
      {nextWindowAt !== null && (
        <p>
          {t.run.nextWindow} <Time at={nextWindowAt} />
        </p>
      )}
      {rawStatus === 'waiting_approval' && (
        <PageLink to="/inbox" search={{ environment: run.environmentName ?? undefined }}>
          {t.run.decide}
        </PageLink>
      )}
    </Note>
  );
}
