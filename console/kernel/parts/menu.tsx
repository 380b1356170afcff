import { type ReactNode, useId, useRef } from 'react';
import { buttonClass } from './button.tsx';
import styles from './menu.module.css';

interface MenuProps {
  /** What the button shows. */
  label: ReactNode;
  /** What the button is called, where it shows no words. */
  name?: string;
  look?: 'plain' | 'quiet';
  children: ReactNode;
}

/** A button that opens a small pane below it: the browser closes it by Escape and by a click beside it. */
export function Menu({ label, name, look = 'plain', children }: MenuProps) {
  const id = useId();
  const pane = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const place = () => {
    if (!pane.current || !button.current) return;
    const { bottom, right, left } = button.current.getBoundingClientRect();
    const isAtRight = right > innerWidth / 2;
    pane.current.style.top = `${bottom + 4}px`;
    pane.current.style.left = isAtRight ? 'auto' : `${left}px`;
    pane.current.style.right = isAtRight ? `${document.documentElement.clientWidth - right}px` : 'auto';
  };
  return (
    <>
      <button ref={button} type="button" className={buttonClass(look)} aria-label={name} popoverTarget={id}>
        {label}
      </button>
      <div
        ref={pane}
        id={id}
        popover="auto"
        className={styles.pane}
        onBeforeToggle={place}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('a, button')) pane.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}
