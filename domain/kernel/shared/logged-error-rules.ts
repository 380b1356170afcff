/** An error as an entry of the log has it; other members of errors may hold what users sent. */
export interface LoggedError {
  type: string;
  /** Its message, followed by the messages of its causes. */
  message: string;
  code?: string;
  /** The first line of the service's own code on its stack: `domain/delivery/flows/runs.queries.ts:31`. */
  at?: string;
  stack?: string;
}

const OWN_LINE = /\/((?:activities|api|domain|tools|workflows)\/[\w./-]+\.ts:\d+)/;
/** So many causes are followed, as they may be circular. */
const CAUSES_MAX = 8;

/** An error as it is logged; what was thrown and is no error, as text. @param hasStack with the stacks of its causes. */
export function loggedError(error: unknown, { hasStack }: { hasStack: boolean }): LoggedError {
  const chain = chainOf(error);
  const [first] = chain;
  if (!first) return { type: typeof error, message: String(error) };
  const code = chain.map((one) => (one as { code?: unknown }).code).find((each) => typeof each === 'string');
  const stacks = chain.map(({ name, message, stack }) => stack ?? `${name}: ${message}`);
  const at = placeOf(stacks[0] ?? '');
  return {
    type: first.constructor.name,
    message: reasonOf(error),
    ...(code !== undefined && { code }),
    ...(at !== undefined && { at }),
    ...(hasStack && { stack: stacks.join('\ncaused by: ') }),
  };
}

/** What went wrong on one line: the message of an error and those of its causes that say more. */
export function reasonOf(error: unknown): string {
  const chain = chainOf(error);
  if (chain.length === 0) return String(error);
  let reason = '';
  for (const { name, message } of chain) {
    const text = message === '' ? name : message;
    if (!reason.includes(text)) reason += reason === '' ? text : `: ${text}`;
  }
  return reason;
}

/** The error and its causes. Of an attempt at several addresses each has an error of its own. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let next = error; Error.isError(next) && chain.length < CAUSES_MAX; next = causeOf(next)) chain.push(next);
  return chain;
}

const causeOf = (error: Error): unknown =>
  error.cause ?? (error as { previous?: unknown }).previous ?? (error as Partial<AggregateError>).errors?.[0];

function placeOf(stack: string): string | undefined {
  for (const line of stack.split('\n')) {
    if (line.includes('/node_modules/')) continue;
    const place = OWN_LINE.exec(line)?.[1];
    if (place !== undefined) return place;
  }
  return undefined;
}
