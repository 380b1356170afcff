import type { Actor } from '../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import type { AnyRoute, ParsedInput } from './define-route.ts';

const refused = () =>
  new DomainError(
    'forbidden',
    'Forbidden - The token of a run reports the deployment and the progress of this run, and nothing else',
  );

/** Refuses routes that the command of a run never calls with the run's token. Throws `forbidden`. */
export function assertAdmitsRuns({ admitsRun }: AnyRoute, { run }: Actor): void {
  if (run && !admitsRun) throw refused();
}

/** Refuses what such a command would report of anything but its run. Throws `forbidden`. */
export function assertOwnRun({ admitsRun }: AnyRoute, { run }: Actor, input: ParsedInput): void {
  if (run && !admitsRun?.(run, input)) throw refused();
}
