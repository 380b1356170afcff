/** A program to run, with arguments that no shell sees. */
export interface Program {
  program: string;
  args: readonly string[];
  /** All of its environment but `PATH`. */
  env: Readonly<Record<string, string>>;
  timeoutSeconds: number;
  /** Is masked in what the program prints. */
  secret?: string | undefined;
}

/** How long a program may run without a renewal, which counts even while the process that started it stands still. */
export interface ProgramLease {
  ms: number;
  /** The listener renews the lease. */
  onRenewed: (listener: () => void) => void;
}

/** What a program has printed so far. */
export interface OutputSoFar {
  /** The last of it, both streams in the order in which they came. */
  tail: Uint8Array;
  /** How many bytes it has printed in all. */
  bytes: number;
}

export interface EndedProgram {
  /** `exited` by itself; `not_started`: there is no such program; else what made it end. */
  why: 'exited' | 'not_started' | 'timed_out' | 'cancelled' | 'lease_ended';
  exitCode: number | null;
  /** The last of what it printed, both streams in the order in which they came; malformed UTF-8 is replaced. */
  outputTail: string;
  /** How many bytes it printed in all. */
  outputBytes: number;
  /** `keep` took all of it; it is asked only when the tail is not all. */
  isKept: boolean;
}

/**
 * Runs a program to its end; an abort of the signal ends it with all that it started in its process group.
 *
 * @param keep takes what it prints, up to a limit, while it runs, when that is more than the tail can hold; when it
 * throws, the program goes on.
 * @param show is told at most once a second what it has printed so far, and not after its end; when it throws, the next one
 * says more.
 */
export type RunProgram = (
  program: Program,
  signal: AbortSignal,
  keep?: (output: AsyncIterable<Uint8Array>) => Promise<unknown>,
  lease?: ProgramLease,
  show?: (output: OutputSoFar) => Promise<unknown>,
) => Promise<EndedProgram>;
