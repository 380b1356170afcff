/** A tool that analyses the files of a folder without running any of their code. */
export interface CodeAnalyzer {
  /** What operators are shown. */
  name: string;
  /** Why it cannot run here and what to install; undefined: it can. */
  whyUnavailable: () => string | undefined;
  /** Makes an empty place for the files of one commit. The place is gone after `close`, and when this process ends in any way. */
  open: () => Promise<AnalysisPlace>;
}

export interface AnalysisPlace {
  /** Where the files to analyse are put. */
  folder: string;
  /**
   * Analyses the files of `folder`. What goes wrong with the tool or the files is a result; rejects with the reason of
   * `signal` when that ended it.
   */
  analyze: (signal: AbortSignal) => Promise<AnalysisOutcome>;
  close: () => Promise<void>;
}

/** @property reason for people; contains no paths of the machine. */
export type AnalysisOutcome = FinishedAnalysis | { isOk: false; reason: string };

export interface FinishedAnalysis {
  isOk: true;
  /** SARIF 2.1.0 with paths relative to the folder, readable until the place is closed. */
  sarif: () => AsyncIterable<Uint8Array>;
  engines: { name: string; version: string }[];
  /** What was not checked, and why, for people. */
  notes: string[];
  /** It had no network. */
  isOffline: boolean;
  durationMs: number;
}
