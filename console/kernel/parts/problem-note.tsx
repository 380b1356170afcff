import type { ProblemError } from '@quayside/client';
import { t } from '../../messages/messages.ts';
import styles from './notes.module.css';

/** Why something was refused or has failed, in the service's own words. */
export function ProblemNote({ problem }: { problem: ProblemError | undefined }) {
  if (!problem) return null;
  const { detail, code, requestId, errors } = problem.problem;
  return (
    <div role="alert" className={styles.bad}>
      <p>{detail}</p>
      {errors && errors.length > 0 && (
        <ul>
          {errors.map(({ pointer, detail: said }) => (
            <li key={`${pointer} ${said}`}>
              <code>{pointer}</code> {said}
            </li>
          ))}
        </ul>
      )}
      <small>
        <code>{code}</code>
        {requestId && <> · {t.parts.requestId(requestId)}</>}
      </small>
    </div>
  );
}

/** Something to know before one goes on. */
export const Note = ({ tone = 'wait', children }: { tone?: 'wait' | 'bad' | 'good'; children: React.ReactNode }) => (
  <div className={styles[tone]}>{children}</div>
);
