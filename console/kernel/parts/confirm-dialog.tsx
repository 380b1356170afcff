import { type FormEvent, type ReactNode, useState } from 'react';
import { t } from '../../messages/messages.ts';
import type { Acting } from '../data/act.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { TextField } from './fields.tsx';
import { ProblemNote } from './problem-note.tsx';

interface ConfirmDialogProps<Input> {
  title: string;
  /** What it will do, and what not. */
  children?: ReactNode;
  /** Label of the button that does it. */
  label: string;
  /** It cannot be undone: this is to be typed first. */
  nameToType?: string;
  acting: Acting<Input, unknown>;
  /** What it is done with; undefined: the form is not complete. */
  input: () => Input | undefined;
  onClose: () => void;
}

/** Asks before something is done, and shows why it was refused. Whoever opens it closes it when it is done. */
export function ConfirmDialog<Input>({
  title,
  children,
  label,
  nameToType,
  acting,
  input,
  onClose,
}: ConfirmDialogProps<Input>) {
  const [typed, setTyped] = useState('');
  const mayAct = nameToType === undefined || typed === nameToType;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = input();
    if (mayAct && given !== undefined && !acting.isActing) acting.act(given);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} style={{ display: 'grid', gap: '1rem' }}>
        {children}
        {nameToType !== undefined && (
          <TextField label={t.parts.typeToConfirm(nameToType)} value={typed} onValue={setTyped} autoComplete="off" />
        )}
        <ProblemNote problem={acting.problem} />
        <DialogActions>
          <Button onClick={onClose}>{t.parts.cancel}</Button>
          <Button
            type="submit"
            look={nameToType === undefined ? 'main' : 'danger'}
            disabled={!mayAct}
            isActing={acting.isActing}
          >
            {label}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
