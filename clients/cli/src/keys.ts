import { createHash, randomUUID } from 'node:crypto';
import { pipelineRun } from './pipeline.ts';

/** JSON with the members of each object in order, so that equal bodies have equal texts. */
export function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/**
 * Makes the keys of a command: the same for the same command and body in the same attempt of a job, so that a step that is
 * repeated does nothing twice. Outside of pipelines, and with `again`, no other start has them.
 */
export function keyMaker(command: string, env: NodeJS.ProcessEnv, again: boolean): (body: unknown) => string {
  const attempt = pipelineRun(env)?.attempt;
  const parts = [command, ...(attempt ?? []), ...(attempt === undefined || again ? [randomUUID()] : [])];
  return (body) =>
    createHash('sha256')
      .update(canonical([...parts, body ?? null]))
      .digest('hex');
}
