import { maskSecrets } from '../language-models/secret-pattern-rules.ts';
import { plainLine } from '../../delivery/releases/changelogs/release-notes-rules.ts';

export const FACT_SOURCES = ['releases', 'code analysis', 'deployments', 'git', 'work items'] as const;
export type FactSource = (typeof FACT_SOURCES)[number];

/** One statement that rows prove. Its number is its place in the list, from 1. */
export interface Fact {
  text: string;
  source: FactSource;
}

/** Facts of one kind, the most telling first. */
export interface FactGroup {
  facts: readonly Fact[];
  /** How many there are in all; absent: those given. */
  total?: number;
  /** How many are listed even if groups before it have more. */
  share: number;
}

/** The facts of a report, in the order of their numbers. */
export interface ReportFacts {
  facts: Fact[];
  /** How many more there are, which are not listed. */
  omitted: number;
}

/** The most facts of one report. */
export const FACTS_MAX = 400;
const TEXT_MAX = 300;

/** A fact on one line, without what looks like a secret. */
export function fact(source: FactSource, text: string): Fact {
  const line = maskSecrets(plainLine(text));
  return { source, text: line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX - 1).toWellFormed()}…` : line };
}

/** Lists at most `FACTS_MAX` facts: of each group its share, and more of the first groups while there is room. */
export function listedFacts(groups: readonly FactGroup[]): ReportFacts {
  const shares = groups.map(({ facts, share }) => Math.min(share, facts.length));
  let room = FACTS_MAX - shares.reduce((sum, share) => sum + share, 0);
  const listed = groups.flatMap((group, at) => {
    const share = shares[at] ?? 0;
    const count = Math.min(group.facts.length, share + Math.max(room, 0));
    room -= count - share;
    return group.facts.slice(0, count);
  });
  const facts = listed.slice(0, FACTS_MAX);
  const total = groups.reduce((sum, group) => sum + Math.max(group.total ?? 0, group.facts.length), 0);
  return { facts, omitted: total - facts.length };
}

/** Name by which a report cites a fact: `F1` for the first. */
export const factName = (place: number): string => `F${place + 1}`;

/** `1 commit`, `12 commits`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** A few names of many. */
export const someOf = (names: readonly string[], max = 8): string =>
  names.length <= max ? names.join(', ') : `${names.slice(0, max).join(', ')} and ${names.length - max} more`;

/** The day of a moment in a database's text. */
export const dayOf = (at: string): string => new Date(at).toISOString().slice(0, 10);
