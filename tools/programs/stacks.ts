/** Part of every bundle: stacks of errors name the lines of sources. */
import { readFileSync } from 'node:fs';
import { type LineTable, placeIn } from './line-table.ts';

/** The address of the folder of bundles, which ends with a slash; bundling puts it in. */
declare const BUNDLES: string;

/** Read when the first stack is. */
const tables = new Map<string, LineTable | undefined>();

function tableOf(file: string): LineTable | undefined {
  if (!tables.has(file)) tables.set(file, read(new URL(`${file}.lines`, BUNDLES)));
  return tables.get(file);
}

function read(file: URL): LineTable | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LineTable;
  } catch {
    // A stack that names the bundle is better than none.
    return undefined;
  }
}

/** What stands before the frames, with the code of an error of Node's own. */
function titleOf(error: Error & { code?: unknown }): string {
  try {
    const { name, code, message } = error;
    if (typeof code === 'string' && code.startsWith('ERR_')) return `${name} [${code}]: ${message}`;
    return Error.prototype.toString.call(error);
  } catch {
    // Objects that only look like errors may have anything for a name.
    return 'Error';
  }
}

const placed = (frame: string): string => {
  const from = frame.lastIndexOf(BUNDLES);
  const [, file = '', line, column] =
    (from === -1 ? undefined : /^([^:]+):(\d+):(\d+)/.exec(frame.slice(from + BUNDLES.length))) ?? [];
  const table = file === '' ? undefined : tableOf(file);
  const place = table && placeIn(table, Number(line), Number(column));
  return place === undefined ? frame : frame.slice(0, from) + place + frame.slice(from).replace(/^[^)]*/, '');
};

Error.prepareStackTrace = (error, frames) =>
  [titleOf(error), ...frames.map(String).map((frame) => `    at ${placed(frame)}`)].join('\n');
