import type { ReactNode } from 'react';
import styles from './status.module.css';
import type { Tone } from './tone.ts';

/** A shape of its own for each tone: none is told by its colour alone. */
const SHAPES: Record<Tone, ReactNode> = {
  good: <path d="M3 8.5l3.2 3.2L13 5" />,
  busy: <path d="M8 2.5a5.5 5.5 0 1 1-5.5 5.5" />,
  wait: <path d="M8 4v4.5l3 1.5M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8z" />,
  bad: <path d="M4 4l8 8M12 4l-8 8" />,
  idle: <path d="M3.5 8h9" />,
};

export const ToneIcon = ({ tone }: { tone: Tone }) => (
  <svg viewBox="0 0 16 16" className={`${styles.icon} ${styles[tone]}`} aria-hidden="true">
    {SHAPES[tone]}
  </svg>
);

interface StatusProps {
  tone: Tone;
  children: ReactNode;
  title?: string | undefined;
}

/** A state in words, with the shape and the colour of its tone. */
export const Status = ({ tone, children, title }: StatusProps) => (
  <span className={`${styles.status} ${styles[tone]}`} title={title}>
    <ToneIcon tone={tone} />
    {children}
  </span>
);
