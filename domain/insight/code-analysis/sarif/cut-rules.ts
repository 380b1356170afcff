/** A tool of whose results only the first are kept. */
export interface CutTool {
  tool: string;
  kept: number;
  found: number;
}

/** What a summary says of cut tools; absent in those that were stored before it was noted. */
interface Cuttable {
  cutTools?: CutTool[] | undefined;
}

/** The two analyses of a comparison; the first of a branch has no base. */
export interface CutSides {
  base?: Cuttable | null | undefined;
  head: Cuttable;
}

/** In the property bag of a run (SARIF 3.8): how many results there were when not all are in it. */
const RESULTS_FOUND = 'quayside/resultsFound';

/** Sums of as many runs as a log may have are exact. */
const FOUND_MAX = 2 ** 31 - 1;

/** How many results a run had, of which so many are kept. */
export function foundIn(properties: Record<string, unknown> | undefined, kept: number): number {
  const given = properties?.[RESULTS_FOUND];
  return Number.isInteger(given) ? Math.min(Math.max(Number(given), kept), FOUND_MAX) : kept;
}

export const isCut = (side: Cuttable | null | undefined): boolean => (side?.cutTools ?? []).length > 0;

/** How many results of an analysis are not kept. */
export const droppedOf = (side: Cuttable | null | undefined): number =>
  (side?.cutTools ?? []).reduce((sum, { kept, found }) => sum + found - kept, 0);

const cutsOf = ({ cutTools = [] }: Cuttable, of: string): string[] =>
  cutTools.map(({ tool, kept, found }) => `of ${found} issues that ${tool} found in ${of} the first ${kept} are kept`);

/** Why numbers of a comparison count only a part, for people; null when they count all. */
export function whyIncomplete({ base, head }: CutSides): string | null {
  const cuts = [...cutsOf(head, 'the newer analysis'), ...(base ? cutsOf(base, 'the older one') : [])];
  return cuts.length === 0 ? null : `Not all issues are known: ${cuts.join('; ')}`;
}
