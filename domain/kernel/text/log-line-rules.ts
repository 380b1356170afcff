const LEVELS: Record<number, string> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };
/** Members that every line of a process has, or that are shown otherwise. */
const OMITTED = new Set(['level', 'time', 'msg', 'process', 'pid', 'hostname', 'err', 'error']);

interface LoggedError {
  message?: string;
  at?: string;
  stack?: string;
}

/**
 * An entry of the log, as pino writes it, on one line for people: time of day (UTC), level, process, what happened, its
 * members and its error, whose stack follows, if the entry has one, on lines of its own. What is no entry stays as it is.
 */
export function lineForPeople(json: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return json;
  }
  const { level, time, msg = '', process } = entry;
  const error = (entry.err ?? entry.error) as LoggedError | string | undefined;
  const members = Object.entries(entry)
    .filter(([name]) => !OMITTED.has(name))
    .map(
      ([name, value]) => `${name}=${typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)}`,
    );
  const { message: why, at, stack } = typeof error === 'string' ? { message: error } : (error ?? {});
  const parts = [
    new Date(Number(time)).toISOString().slice(11, 23),
    (LEVELS[Number(level)] ?? String(level)).padEnd(5),
    ...(typeof process === 'string' ? [process] : []),
    String(msg) + (why === undefined ? '' : `: ${why}`),
    ...members,
    ...(at === undefined ? [] : [`at=${at}`]),
  ];
  const line = parts.join(' ').replaceAll(/\s*[\r\n]+\s*/g, ' ');
  return stack === undefined ? `${line}\n` : `${line}\n${stack}\n`;
}
