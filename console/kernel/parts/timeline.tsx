import type { ReactNode } from 'react';
import { ToneIcon } from './status.tsx';
import type { Tone } from './tone.ts';
import styles from './timeline.module.css';

export interface TimelineEntry {
  key: string;
  tone: Tone;
  at: ReactNode;
  title: ReactNode;
  detail?: ReactNode;
}

/** What happened, or is to happen, one below the other. */
export const Timeline = ({ items }: { items: readonly TimelineEntry[] }) => (
  <ol className={styles.timeline}>
    {items.map(({ key, tone, at, title, detail }) => (
      <li key={key}>
        <ToneIcon tone={tone} />
        <div>
          <div>{title}</div>
          {detail && <div className={styles.detail}>{detail}</div>}
        </div>
        <small>{at}</small>
      </li>
    ))}
  </ol>
);
