import { type KeyboardEvent, useId, useState } from 'react';
import { TextField } from './fields.tsx';

interface FilterFieldProps {
  label: string;
  hint?: string;
  /** What the address has; empty: nothing. */
  value: string;
  onValue: (value: string | undefined) => void;
  /** Values that are offered; others may be typed. */
  offered?: readonly string[];
}

/** A filter by a text: it counts when one leaves the field, presses Enter or takes what is offered, not while one types. */
export function FilterField({ label, hint, value, onValue, offered = [] }: FilterFieldProps) {
  const [draft, setDraft] = useState(value);
  const [known, setKnown] = useState(value);
  const listId = useId();
  if (known !== value) {
    setKnown(value);
    setDraft(value);
  }
  const apply = (text: string) => {
    const wanted = text.trim();
    if (wanted !== value) onValue(wanted || undefined);
  };
  const type = (text: string) => {
    setDraft(text);
    if (text === '' || offered.includes(text)) apply(text);
  };
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        type="search"
        list={offered.length > 0 ? listId : undefined}
        maxLength={255}
        value={draft}
        onValue={type}
        onBlur={() => apply(draft)}
        onKeyDown={({ key }: KeyboardEvent) => key === 'Enter' && apply(draft)}
      />
      <datalist id={listId} hidden>
        {offered.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}
