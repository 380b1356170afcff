/** A start or a command that cannot continue; its message is the one sentence that the operator sees. */
export class OperatorError extends Error {}

/** Prints what stopped a command: one sentence where the operator can act on it, else the whole error. */
export function exitWith(error: unknown): never {
  const isKnown =
    error instanceof OperatorError ||
    (error instanceof Error && ['ConfigError', 'DomainError'].includes(error.constructor.name));
  process.stderr.write(`${isKnown ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}
