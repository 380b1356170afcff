/** What an expression becomes in PostgreSQL, which copies what a count repeats. */
export interface Size {
  /** Copies of single characters. */
  single: number;
  /** Copies of what stands for many characters: each has an arc for every kind of character that the expression tells apart. */
  wide: number;
  /** Whether it matches nothing at all, too. */
  isSkippable: boolean;
  /** How many parts in a row may be left out: at the beginning, at the end, anywhere. */
  lead: number;
  tail: number;
  most: number;
}

/** PostgreSQL gives up (SQLSTATE 2201B, too complex) after some 45,000 states. */
const COPIES_MAX = 20_000;
const ARCS_MAX = 200_000;
/** It compiles a row of parts that may be left out in the cube of its length: some 20 ns each. */
const SKIPS_WORK_MAX = 5_000_000;

const ofParts = (single: number, wide: number, isSkippable: boolean, skips: number): Size => ({
  single,
  wide,
  isSkippable,
  lead: skips,
  tail: skips,
  most: skips,
});

export const NOTHING = ofParts(0, 0, true, 0);
export const CONSTRAINT = ofParts(0, 0, true, 1);
export const SINGLE = ofParts(1, 0, false, 0);
export const WIDE = ofParts(0, 1, false, 0);

export const sequence = (a: Size, b: Size): Size => ({
  single: a.single + b.single,
  wide: a.wide + b.wide,
  isSkippable: a.isSkippable && b.isSkippable,
  lead: a.isSkippable ? a.lead + b.lead : a.lead,
  tail: b.isSkippable ? a.tail + b.tail : b.tail,
  most: Math.max(a.most, b.most, a.tail + b.lead),
});

/** One of several; their rows of parts that may be left out are all between the same two states. */
export function alternatives(branches: readonly Size[]): Size {
  const [first = NOTHING, ...others] = branches;
  if (others.length === 0) return first;
  const sum = (of: (branch: Size) => number) => branches.reduce((total, branch) => total + of(branch), 0);
  const isSkippable = branches.some((branch) => branch.isSkippable);
  const skips = sum(({ most }) => most) + (isSkippable ? 1 : 0);
  return ofParts(
    sum(({ single }) => single),
    sum(({ wide }) => wide),
    isSkippable,
    skips,
  );
}

/** @param least copies that must match; of 0 the part may be left out. */
export function repeated(part: Size, { least, most }: { least: number; most: number }): Size {
  const copies = Math.max(most, 1);
  const [single, wide] = [part.single * copies, part.wide * copies];
  if (part.isSkippable) return ofParts(single, wide, true, Math.max(1, part.most * copies));
  const inner = copies > 1 ? Math.max(part.most, part.tail + part.lead) : part.most;
  return least === 0 ? ofParts(single, wide, true, inner + 1) : { ...part, single, wide, most: inner };
}

/** @param told how many kinds of characters the expression tells apart, at most. */
export function isTooLarge({ single, wide, most }: Size, told: number): boolean {
  const arcs = single + wide * (told + 1);
  return single + wide > COPIES_MAX || arcs > ARCS_MAX || most ** 2 * arcs > SKIPS_WORK_MAX;
}
