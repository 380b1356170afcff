import { type ReactNode, useEffect, useId, useRef } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from './button.tsx';
import styles from './dialog.module.css';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Wider than a form needs. */
  isWide?: boolean;
}

/**
 * A dialog over the page, open as long as it is drawn. Escape closes it, and a click beside it where it has no form: what was
 * typed is not lost by a slip. Focus goes back to where it was.
 */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isPressedBeside = useRef(false);
  useEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    // What one came to fill in, rather than the button that closes it.
    shown?.querySelector<HTMLElement>('input, select, textarea')?.focus();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      className={isWide ? `${styles.dialog} ${styles.wide}` : styles.dialog}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={({ target }) => {
        isPressedBeside.current = target === dialog.current;
      }}
      onClick={({ target }) => {
        const isBeside = target === dialog.current && isPressedBeside.current;
        if (isBeside && !dialog.current?.querySelector('form')) onClose();
      }}
    >
      <div className={styles.content}>
        <header className={styles.header}>
          <h2 id={titleId}>{title}</h2>
          <Button look="quiet" onClick={onClose} aria-label={t.parts.close}>
            ✕
          </Button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** The row of buttons at the end of a dialog. */
export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className={styles.actions}>{children}</div>
);
