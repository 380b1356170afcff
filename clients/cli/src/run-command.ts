import {
  type Context,
  endAfter,
  type GlobalOptions,
  type Interruption,
  type Invocation,
  makeContext,
} from './context.ts';
import { durationMs } from './duration.ts';
import { type CommandError, type Failure, failureOf } from './exit.ts';
import type { Outcome } from './output.ts';

/** What a command does; nothing: it has printed what it had to. */
export type Action = (context: Context) => Promise<Outcome | undefined>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs a command that asks the service, and ends the process with its code. */
export async function runCommand(invocation: Invocation, action: Action): Promise<never> {
  const interruption = interruptible();
  return endWith(invocation.options, interruption, () => {
    const context = makeContext(invocation, process.env, interruption);
    for (const name of SIGNALS) process.on(name, () => context.onSignal(name));
    return action(context);
  });
}

/** Runs a command that needs no credential yet; a time-out ends it even while it asks a person. */
export function runPlain(options: GlobalOptions, action: (signal: AbortSignal) => Promise<Outcome>): Promise<never> {
  const interruption = interruptible();
  const { signal, interrupt } = interruption;
  return endWith(options, interruption, () => {
    if (options.timeout === undefined) return action(signal);
    const ended = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as CommandError), { once: true }),
    );
    endAfter(durationMs(options.timeout), interrupt);
    return Promise.race([action(signal), ended]);
  });
}

function interruptible(): Interruption {
  const ending = new AbortController();
  return { signal: ending.signal, interrupt: (reason: CommandError) => ending.abort(reason) };
}

async function endWith(
  { json }: GlobalOptions,
  { signal }: Interruption,
  action: () => Promise<Outcome | undefined>,
): Promise<never> {
  try {
    const outcome = await action();
    if (outcome !== undefined) print(outcome, json);
    process.exit(outcome?.exitCode ?? 0);
  } catch (error) {
    process.exit(report(failureOf(error, signal.reason), json));
  }
}

function print({ data, text }: Outcome, json: boolean | undefined): void {
  if (json) process.stdout.write(`${JSON.stringify(data)}\n`);
  else if (text !== '') process.stdout.write(`${text}\n`);
}

/** Says what went wrong; the exit code. */
export function report({ exitCode, text, json }: Failure, isJson: boolean | undefined): number {
  process.stderr.write(isJson ? `${JSON.stringify(json)}\n` : `${text}\n`);
  return exitCode;
}
