import type { Problem } from './generated/types.gen.ts';

/** A connection that was lost, or could not be made. */
export class UnreachableError extends Error {
  override name = 'UnreachableError';
}

/** The service sent the request elsewhere; credentials and bodies go to its own origin alone. */
export class RedirectedError extends Error {
  override name = 'RedirectedError';
}

/** Thrown where a value cannot say it: by iterators and `dataOf`. */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** What an operation answers. */
export interface AnyResult {
  data?: unknown;
  error?: unknown;
  response?: Response;
}

/** What it answers where it succeeds. */
export type DataOf<Result> = Extract<Result, { error: undefined }> extends { data: infer Data } ? Data : never;

/** The data of a result. Throws `ProblemError` for an error. */
export async function dataOf<Result extends AnyResult>(result: Promise<Result>): Promise<DataOf<Result>> {
  const { data, error } = await result;
  if (error !== undefined) throw new ProblemError(error as Problem);
  return data as DataOf<Result>;
}

/** What no reply of the service says: its own codes, with status 0 where no reply came. */
export const ownProblem = (
  code: Problem['code'],
  { status = 0, detail, instance = '', requestId = '' }: Partial<Problem>,
): Problem => ({
  type: `urn:quayside:problem:${code}`,
  title: code,
  status,
  detail: detail ?? code,
  instance,
  code,
  requestId,
});

const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' && value !== null && 'code' in value && 'status' in value && 'detail' in value;

/** Whatever went wrong, as a problem. */
export function problemOf(error: unknown, request?: Request, response?: Response): Problem {
  if (isProblem(error)) return error;
  if (error instanceof ProblemError) return error.problem;
  const instance = request === undefined ? '' : new URL(request.url).pathname;
  if (response !== undefined)
    return ownProblem('unexpected_reply', {
      status: response.status,
      detail: unexpected(response, error),
      instance,
      requestId: response.headers.get('x-request-id') ?? '',
    });
  const [code, detail] = failureOf(error);
  return ownProblem(code, { detail, instance });
}

/** Monitoring programs answer as Prometheus does: `error` says it. */
function unexpected(response: Response, body: unknown): string {
  const said = typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
  const text = said instanceof Error ? said.message : typeof said === 'string' ? said.trim().slice(0, 200) : '';
  return `HTTP ${response.status}${text === '' ? '' : `: ${text}`}`;
}

function failureOf(error: unknown): [Problem['code'], string] {
  if (!(error instanceof Error)) return ['aborted', String(error)];
  if (error instanceof UnreachableError) return ['unreachable', error.message];
  if (error instanceof RedirectedError) return ['redirected', error.message];
  if (error.name === 'TimeoutError') return ['timed_out', 'The request took too long'];
  if (error.name === 'AbortError') return ['aborted', 'The request was given up'];
  return ['invalid_call', error.message];
}
