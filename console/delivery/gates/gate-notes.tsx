import type { FlowDryRun } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { t } from '../../messages/messages.ts';
import { RunList } from '../runs/run-list.tsx';
import { hasMoreRuns, type ReleaseInProject, runsThere, type Verdict } from './gate-rules.ts';
import { openRunsQuery } from './gates.queries.ts';
import styles from './gates.module.css';

const TONES = { now: 'good', waits: 'wait', no: 'bad' } as const;

/** Whether it can go, in one line, and why not in the service's words. */
export const VerdictNote = ({ verdict }: { verdict: Verdict | undefined }) => (
  <div className={styles.verdict} role="status">
    {verdict === undefined ? (
      t.parts.loading
    ) : (
      <>
        <Status tone={TONES[verdict.can]}>{t.gates[verdict.can]}</Status>
        {verdict.can === 'no' && verdict.reason && <span>{verdict.reason}</span>}
        {verdict.can === 'now' && <span>{t.gates.nowHint}</span>}
      </>
    )}
  </div>
);

/** What would be another one there afterwards, and what a rollback would leave. */
export function Changes({ answer: { changes, cannotDo } }: { answer: Pick<FlowDryRun, 'changes' | 'cannotDo'> }) {
  return (
    <>
      {changes && (
        <section>
          <h3>{t.gates.changes}</h3>
          {changes.packages === 0 ? (
            <p>{t.gates.nothing}</p>
          ) : (
            <p className={styles.changes}>
              <strong>{t.gates.packages(changes.packages)}</strong>
              <strong>{t.gates.commits(changes.commits)}</strong>
              <strong>{t.gates.workItems(changes.workItems)}</strong>
              <span className={styles.soft}>{t.gates.changesHint}</span>
            </p>
          )}
        </section>
      )}
      {cannotDo.length > 0 && (
        <section>
          <h3>{t.gates.cannotDo}</h3>
          <ul className={styles.list}>
            {cannotDo.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Warns of runs that take the release there already, and where it is not known whether there are any. */
export function AlreadyUnderWay({ release, environmentName }: { release: ReleaseInProject; environmentName: string }) {
  const { data, error } = useQuery(openRunsQuery(release));
  const runs = runsThere(data?.runs ?? [], environmentName);
  const isUnknown = error !== null || (data !== undefined && hasMoreRuns(data));
  return (
    <>
      {runs.length > 0 && (
        <Note>
          <strong>{t.gates.already(runs.length)}</strong>
          <RunList runs={runs} />
          <p>{t.gates.alreadyHint}</p>
        </Note>
      )}
      {isUnknown && <Note>{error ? t.gates.alreadyUnknown : t.gates.alreadyMore(data?.runs.length ?? 0)}</Note>}
    </>
  );
}
