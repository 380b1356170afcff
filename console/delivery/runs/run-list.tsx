import type { FlowRun } from '@quayside/client';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { toneOfRun } from './run-rules.ts';
import styles from './run-list.module.css';

/** Runs in short: what, where, how it stands, since when. */
export const RunList = ({ runs }: { runs: readonly FlowRun[] }) => (
  <ul className={styles.list}>
    {runs.map(({ id, taskType, status, environmentName, releaseName, createdAt, triggeredBy }) => (
      <li key={id}>
        <Status tone={toneOfRun(status)}>{status}</Status>
        <span>
          <PageLink to={`/runs/${id}`}>{[taskType, releaseName].filter(Boolean).join(' ')}</PageLink>
          {environmentName && <> → {environmentName}</>}
          <small>
            <Time at={createdAt} /> · {triggeredBy}
          </small>
        </span>
      </li>
    ))}
  </ul>
);
