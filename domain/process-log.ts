import { type Logger, type LoggerOptions, pino } from 'pino';
import { lineForPeople } from './kernel/text/log-line-rules.ts';
import { loggedError } from './kernel/shared/logged-error-rules.ts';
import { Outages } from './kernel/system/outages.ts';

export interface ProcessLog {
  log: Logger;
  /** What fails because of one of them is logged at `debug`: they are logged themselves. */
  outages: Outages;
}

const WARN = 40;

/** The log of a process on its standard output: JSON, an entry a line; on a terminal for people. Stacks are at `debug`. */
export function processLog(name: string, level: string): ProcessLog {
  const write = (line: string) => void process.stdout.write(lineForPeople(line));
  return loggingTo(process.stdout.isTTY ? { write } : undefined, { level, base: { process: name } });
}

/** @param destination absent: the standard output. */
export function loggingTo(
  destination: pino.DestinationStream | undefined,
  { level, base }: { level: string; base?: LoggerOptions['base'] },
): ProcessLog {
  const hasStack = level === 'debug' || level === 'trace';
  const serializer = (error: unknown) => loggedError(error, { hasStack });
  const options: LoggerOptions = {
    level,
    ...(base && { base }),
    // Temporal's SDK passes a failure as `error`.
    serializers: { err: serializer, error: serializer },
    hooks: {
      logMethod(given, method, levelNumber) {
        const [members] = given as unknown[];
        const error = levelNumber >= WARN ? errorIn(members) : undefined;
        if (error === undefined) method.apply(this, given);
        else outages.log(error, { write: () => method.apply(this, given), writeDebug: () => this.debug(...given) });
      },
    },
  };
  const log = destination ? pino(options, destination) : pino(options);
  const outages = new Outages(log);
  return { log, outages };
}

function errorIn(members: unknown): unknown {
  if (members === null || typeof members !== 'object') return undefined;
  const { err, error } = members as { err?: unknown; error?: unknown };
  return err ?? error;
}
