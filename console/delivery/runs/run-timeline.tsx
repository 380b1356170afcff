import type { FlowRunDetail } from '@quayside/client';
import { t } from '../../messages/messages.ts';
import { Section } from '../../kernel/parts/page.tsx';
import { clockTime } from '../../kernel/parts/clock-rules.ts';
import { ToneIcon } from '../../kernel/parts/status.tsx';
import { duration, exactTime } from '../../kernel/parts/time-rules.ts';
import { useNow } from '../../kernel/parts/time.tsx';
import styles from './run.module.css';
import { stepTookMs, timelineOf, toneOfStep } from './timeline-rules.ts';

/** The gates and states of a run with their times, and what it does in the org. */
export function RunTimeline({ run: { states, steps } }: { run: FlowRunDetail }) {
  const now = useNow();
  return (
    <Section title={t.run.timeline}>
      <ol className={styles.timeline}>
        {timelineOf(states, now).map(({ state, since, tone, tookMs, detail, isNow }, index) => (
          <li key={`${state} ${since} ${index}`} aria-current={isNow ? 'step' : undefined}>
            <ToneIcon tone={tone} />
            <div>
              <strong>{t.run.states[state]}</strong> <Clock at={since} />
              {tookMs !== null && <span className={styles.soft}> · {duration(tookMs)}</span>}
              {detail && <p className={styles.soft}>{detail}</p>}
            </div>
          </li>
        ))}
      </ol>
      {steps.length > 0 && <h3>{t.run.steps}</h3>}
      <ol className={styles.timeline}>
        {steps.map((step, index) => (
          <Step key={`${step.name} ${index}`} step={step} now={now} />
        ))}
      </ol>
    </Section>
  );
}

function Clock({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span className={styles.soft}>{t.run.unknownTime}</span>;
  return (
    <time dateTime={at} title={exactTime(at)} className={styles.soft}>
      {clockTime(at, now)}
    </time>
  );
}

function Step({ step, now }: { step: FlowRunDetail['steps'][number]; now: number }) {
  const { name, state, since, detail, progress, error, externalId } = step;
  const tookMs = stepTookMs(step, now);
  return (
    <li>
      <ToneIcon tone={toneOfStep(state)} />
      <div>
        <strong>{name}</strong> <span>{t.run.stepStates[state]}</span> {since !== null && <Clock at={since} />}
        {tookMs !== null && <span className={styles.soft}> · {duration(tookMs)}</span>}
        {progress?.percent !== undefined && <span className={styles.soft}> · {t.run.percent(progress.percent)}</span>}
        {error && <p className={styles.reason}>{error}</p>}
        {detail && <p className={styles.soft}>{detail}</p>}
        {externalId && (
          <p className={styles.soft}>
            <code>{externalId}</code>
          </p>
        )}
      </div>
    </li>
  );
}
