import { en } from './en.ts';

type Words = { readonly [name: string]: unknown };

/** Marks every text of the catalog, so that a test finds what stands beside it. */
export function pseudo<Catalog>(words: Catalog): Catalog {
  if (typeof words === 'string') return `⟦${words}⟧` as Catalog;
  if (typeof words === 'function')
    return ((...given: unknown[]) => pseudo((words as (...all: unknown[]) => unknown)(...given))) as Catalog;
  if (typeof words !== 'object' || words === null) return words;
  return Object.fromEntries(Object.entries(words as Words).map(([name, each]) => [name, pseudo(each)])) as Catalog;
}

function isPseudo(): boolean {
  try {
    return localStorage.getItem('quayside.locale') === 'pseudo';
  } catch {
    return false;
  }
}

/** Every word that the console says by itself. */
export const t: typeof en = isPseudo() ? pseudo(en) : en;
