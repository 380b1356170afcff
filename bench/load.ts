import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { HttpLoad, HttpLoadResult } from './http-load.ts';

/** Lets the load generator's process run one load and waits for its result. */
export async function generate(generator: ChildProcess, load: HttpLoad): Promise<HttpLoadResult> {
  const result = once(generator, 'message');
  generator.send(load);
  return (await result)[0] as HttpLoadResult;
}

/** How many of the answers had another status than the one expected. */
export const unexpected = ({ statuses }: HttpLoadResult, status: number): number =>
  Object.entries(statuses).reduce((sum, [each, count]) => sum + (Number(each) === status ? 0 : count), 0);
