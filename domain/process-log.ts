import { type Logger, pino } from 'pino';
import { lineForPeople } from './shared/log-line-rules.ts';

/** The log of a process on its standard output: JSON, an entry a line; on a terminal for people, with stacks at `debug`. */
export function processLog(name: string, level: string): Logger {
  // Temporal's SDK passes a failure as `error`, which would be written as an empty object.
  const options = { level, base: { process: name }, serializers: { error: pino.stdSerializers.err } };
  if (!process.stdout.isTTY) return pino(options);
  const hasStacks = level === 'debug' || level === 'trace';
  return pino(options, { write: (line: string) => void process.stdout.write(lineForPeople(line, { hasStacks })) });
}
