import { ProblemError } from '@quayside/client';

/** What the command ends with. */
export const EXIT = {
  failed: 1,
  usage: 2,
  refused: 3,
  missing: 4,
  conflict: 5,
  timedOut: 6,
  unreachable: 7,
  interrupted: 130,
  terminated: 143,
} as const;

/** A command that cannot go on: one sentence for people, a code for programs. */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly members: Record<string, unknown>;

  constructor(exitCode: number, code: string, message: string, members: Record<string, unknown> = {}) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.members = members;
  }
}

/** Wrong from the start: nothing has been asked. */
export const usage = (message: string) => new CommandError(EXIT.usage, 'usage', message);

export const missing = (message: string) => new CommandError(EXIT.missing, 'not_found', message);

/** @param ids of what the name may mean. */
export const ambiguous = (message: string, ids: readonly string[]) =>
  new CommandError(EXIT.conflict, 'ambiguous', `${message}: ${ids.join(', ')}`, { ids });

/** The service is away, or fails for a moment: whether the request was done is not known. */
export const isForTheMoment = ({ status }: { status: number }): boolean =>
  status === 0 || status === 429 || status >= 500;

const BY_STATUS = new Map<number, number>([
  ...[401, 403].map((status) => [status, EXIT.refused] as const),
  ...[404, 405, 410].map((status) => [status, EXIT.missing] as const),
  ...[409, 412, 423].map((status) => [status, EXIT.conflict] as const),
  ...[429, 502, 503, 504].map((status) => [status, EXIT.unreachable] as const),
]);

/** The exit code of a problem: by its status, and by its code where no reply came. */
export function exitCodeOf({ status, code }: { status: number; code: string }): number {
  if (code === 'timed_out') return EXIT.timedOut;
  if (code === 'unreachable' || code === 'redirected') return EXIT.unreachable;
  if (code === 'unexpected_reply' && status < 400) return EXIT.unreachable;
  return BY_STATUS.get(status) ?? EXIT.failed;
}

/** What a command failed with, as it is printed. */
export interface Failure {
  exitCode: number;
  text: string;
  json: Record<string, unknown>;
}

/** @param interrupted what ended the command from outside, if something did. */
export function failureOf(error: unknown, interrupted: unknown): Failure {
  if (interrupted instanceof CommandError) return failureOf(interrupted, undefined);
  if (error instanceof CommandError) {
    const { exitCode, code, message, members } = error;
    return { exitCode, text: message, json: { code, detail: message, ...members, exitCode } };
  }
  if (error instanceof ProblemError) {
    const { problem } = error;
    const exitCode = exitCodeOf(problem);
    const fields = (problem.errors ?? []).map(({ pointer, detail }) => `\n  ${pointer} ${detail}`).join('');
    return { exitCode, text: `${problem.detail}${fields}`, json: { ...problem, exitCode } };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, text: detail, json: { code: 'internal', detail, exitCode: EXIT.failed } };
}
