/** A piece of SQL with `?` placeholders and what stands in them. */
export interface Fragment {
  text: string;
  parameters: unknown[];
}

const isFragment = (value: unknown): value is Fragment =>
  typeof value === 'object' && value !== null && 'text' in value && 'parameters' in value;

/** Makes a fragment: other fragments in it are put in place, every other value becomes a parameter. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Fragment {
  let text = strings[0] ?? '';
  const parameters: unknown[] = [];
  for (const [index, value] of values.entries()) {
    if (isFragment(value)) {
      text += value.text;
      parameters.push(...value.parameters);
    } else {
      text += '?';
      parameters.push(value);
    }
    text += strings[index + 1] ?? '';
  }
  return { text, parameters };
}

export const join = (fragments: readonly Fragment[], separator: string): Fragment => ({
  text: fragments.map(({ text }) => text).join(separator),
  parameters: fragments.flatMap(({ parameters }) => parameters),
});

/** Text that is part of the program, never of a request. */
export const raw = (text: string): Fragment => ({ text, parameters: [] });
