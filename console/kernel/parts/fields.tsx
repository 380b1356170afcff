import { type InputHTMLAttributes, type ReactNode, useId } from 'react';
import type { ProblemError } from '@quayside/client';
import styles from './fields.module.css';

interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** What the service says about this field. */
  error?: string | undefined;
  isLabelHidden?: boolean;
}

/** What a problem says about one member of the request: `pointer` is its JSON pointer, such as `/payload/reason`. */
export const errorAt = (problem: ProblemError | undefined, pointer: string): string | undefined =>
  problem?.problem.errors?.find((each) => each.pointer === pointer)?.detail;

function Field({
  label,
  hint,
  error,
  isLabelHidden,
  children,
}: FieldProps & { children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode }) {
  const id = useId();
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const described = [hint && hintId, error && errorId].filter(Boolean).join(' ');
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {children({
        id,
        ...(described && { 'aria-describedby': described }),
        ...(error && { 'aria-invalid': true as const }),
      })}
      {hint && (
        <small id={hintId} className={styles.hint}>
          {hint}
        </small>
      )}
      {error && (
        <small id={errorId} className={styles.error}>
          {error}
        </small>
      )}
    </div>
  );
}

interface TextFieldProps extends FieldProps, Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  value: string;
  onValue: (value: string) => void;
}

export const TextField = ({ label, hint, error, isLabelHidden, value, onValue, ...rest }: TextFieldProps) => (
  <Field label={label} hint={hint} error={error} isLabelHidden={isLabelHidden}>
    {(ids) => (
      <input
        className={styles.input}
        value={value}
        onChange={({ target }) => onValue(target.value)}
        {...ids}
        {...rest}
      />
    )}
  </Field>
);

interface TextAreaProps extends FieldProps {
  value: string;
  onValue: (value: string) => void;
  rows?: number;
  isRequired?: boolean;
}

export const TextArea = ({ value, onValue, rows = 3, isRequired = false, ...field }: TextAreaProps) => (
  <Field {...field}>
    {(ids) => (
      <textarea
        className={styles.input}
        rows={rows}
        required={isRequired}
        value={value}
        onChange={({ target }) => onValue(target.value)}
        {...ids}
      />
    )}
  </Field>
);

interface SelectFieldProps extends FieldProps {
  value: string;
  onValue: (value: string) => void;
  options: readonly { value: string; label: string }[];
}

export const SelectField = ({ value, onValue, options, ...field }: SelectFieldProps) => (
  <Field {...field}>
    {(ids) => (
      <select className={styles.input} value={value} onChange={({ target }) => onValue(target.value)} {...ids}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

interface CheckboxProps {
  label: ReactNode;
  isChecked: boolean;
  onChecked: (isChecked: boolean) => void;
  isDisabled?: boolean;
}

export const Checkbox = ({ label, isChecked, onChecked, isDisabled = false }: CheckboxProps) => (
  <label className={styles.checkbox}>
    <input
      type="checkbox"
      checked={isChecked}
      disabled={isDisabled}
      onChange={({ target }) => onChecked(target.checked)}
    />
    <span>{label}</span>
  </label>
);
