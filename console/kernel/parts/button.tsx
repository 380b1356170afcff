import type { ButtonHTMLAttributes, ReactNode } from 'react';
import styles from './button.module.css';

type Look = 'main' | 'plain' | 'quiet' | 'danger';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  /** What it does is under way: it takes no second click, and keeps its focus. */
  isActing?: boolean;
  children: ReactNode;
}

export function Button({
  look = 'plain',
  isActing = false,
  type = 'button',
  className,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      className={[styles.button, styles[look], className].filter(Boolean).join(' ')}
      aria-disabled={isActing || undefined}
      aria-busy={isActing || undefined}
      onClick={(event) => (isActing ? event.preventDefault() : onClick?.(event))}
      {...rest}
    />
  );
}

/** Classes of something that looks like a button, such as a link to a page of the service. */
export const buttonClass = (look: Look = 'plain'): string => `${styles.button} ${styles[look]}`;
