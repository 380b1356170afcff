import { Loading } from '../../kernel/parts/page.tsx';
import { ToneIcon } from '../../kernel/parts/status.tsx';
import { ExactTime, Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import styles from './candidates.module.css';
import type { Why } from './why-rules.ts';

/** The sentence that says why a candidate is not released yet. */
export const WhyNote = ({ why, isLoading }: { why: Why; isLoading: boolean }) =>
  isLoading ? (
    <Loading rows={1} />
  ) : (
    <section className={styles.why} data-tone={why.tone} aria-label={t.candidates.why}>
      <ToneIcon tone={why.tone} />
      <p>
        {sentenceOf(why)}
        {why.kind === 'window' && why.opensAt && (
          <>
            {' '}
            {t.candidates.opens} <Time at={why.opensAt} />: <ExactTime at={why.opensAt} />
          </>
        )}
        {why.kind === 'held' && why.until && (
          <>
            {' '}
            ({t.gates.holdUntil} <ExactTime at={why.until} />)
          </>
        )}
      </p>
    </section>
  );

function sentenceOf(why: Why): string {
  const { is } = t.candidates;
  switch (why.kind) {
    case 'superseded':
      return is.superseded(why.by);
    case 'held':
      return is.held(why.by, why.reason);
    case 'verification':
      return is.verification(why.environment, why.reason);
    case 'approval':
      return is.approval(why.environment, why.approvers?.join(', '));
    case 'window':
      return is.window(why.environment);
    case 'lock':
    case 'running':
    case 'failed':
    case 'rolledBack':
    case 'otherContent':
      return is[why.kind](why.environment);
    case 'requested':
    case 'atWork':
      return is[why.kind](why.environment);
    case 'waits':
      return is.waits(why.environment, why.reason);
    case 'partial':
      return is.partial(why.environment, why.packages.join(', '));
    case 'missing':
      return is.missing(why.environments.join(', '), why.isRequestKnown);
    case 'nowhere':
      return is.nowhere(why.isRequestKnown);
    case 'aborted':
    case 'finalized':
    case 'ready':
    case 'noEnvironments':
    case 'notFound':
    case 'cut':
    case 'unknown':
      return is[why.kind];
  }
}
