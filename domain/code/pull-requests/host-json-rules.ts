import type { UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import type { Label } from './pull-request-rules.ts';

export const TITLE_MAX = 1_000;
const NUMBER_MAX = 2_147_483_647;
const LABELS_MAX = 100;
const REVIEWERS_MAX = 100;
const NAME_MAX = 255;

export function numberOf(value: UntrustedJson): number | null {
  const number = value.integer();
  return number !== null && number > 0 && number <= NUMBER_MAX ? number : null;
}

/** Names of people or teams; the rest of a list that is longer than any real one is dropped. */
export const namesOf = (list: UntrustedJson, member: string): string[] =>
  list.items(REVIEWERS_MAX).flatMap((each) => each.at(member).text(NAME_MAX) ?? []);

/** In the order of their names, since hosts give them in any. */
export const labelsOf = (list: UntrustedJson, nameMember: string): Label[] | null =>
  list.isList()
    ? list
        .items(LABELS_MAX)
        .flatMap((label) => {
          const key = label.at(nameMember).text(NAME_MAX);
          if (key === null) return [];
          return [{ key, description: label.at('description').text(), color: colorOf(label.at('color').text(32)) }];
        })
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    : null;

/** Six hexadecimal digits behind `#`, as far as it is such a color. */
function colorOf(text: string | null): string | null {
  const digits = /^#?([0-9a-f]{6})$/i.exec(text ?? '')?.[1];
  return digits === undefined ? null : `#${digits.toLowerCase()}`;
}
