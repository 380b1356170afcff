import { useEffect, useRef } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { Section } from '../../kernel/parts/page.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import type { Tone } from '../../kernel/parts/tone.ts';
import type { Decided } from './decisions.ts';
import { titleOf } from './inbox-card.tsx';
import type { Outcome } from './inbox-rules.ts';
import styles from './inbox.module.css';

const TONES: Record<Outcome['kind'], Tone> = { done: 'good', meanwhile: 'wait', refused: 'bad' };

function saidOf(outcome: Outcome): string {
  const words = t.inbox.outcome;
  if (outcome.kind === 'refused') return words.refused(outcome.detail);
  if (outcome.kind === 'meanwhile') {
    const status = t.inbox.statuses[outcome.status];
    return outcome.by === null ? words.meanwhileAlone(status) : words.meanwhile(status, outcome.by);
  }
  if (outcome.status === 'approved' || outcome.status === 'rejected') return words[outcome.status];
  return words.counted;
}

/** What came of each decision of the last time; it takes the focus, as what was decided is gone, and stays until one hides it. */
export function Outcomes({ decided, onHide }: { decided: readonly Decided[]; onHide: () => void }) {
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => shown.current?.focus(), [decided]);
  return (
    <Section title={t.inbox.outcomes} actions={<Button onClick={onHide}>{t.inbox.hideOutcomes}</Button>}>
      <div ref={shown} tabIndex={-1} role="status">
        <ul className={styles.votes}>
          {decided.map(({ approval, outcome }) => (
            <li key={approval.id}>
              <Status tone={TONES[outcome.kind]}>{titleOf(approval)}</Status> {saidOf(outcome)}
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}
