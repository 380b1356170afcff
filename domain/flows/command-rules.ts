const PLACEHOLDER = /\{payload\.([\w.-]+)\}/g;

/** An argument of a command that its payload cannot fill; the message is shown on the run. */
export class UnfilledArgumentError extends Error {}

/**
 * The argument vector of a run: each `{payload.path}` is replaced inside its one argument. Throws
 * `UnfilledArgumentError` for a member that is missing or no scalar, and where a value would become an option.
 */
export const fillArguments = (args: readonly string[], payload: Record<string, unknown>): string[] =>
  args.map((arg) =>
    arg.replace(PLACEHOLDER, (placeholder, path: string) => {
      const value = path.split('.').reduce<unknown>((at, name) => memberOf(at, name), payload);
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        throw new UnfilledArgumentError(`The payload has no ${path} for the command`);
      }
      if (arg.startsWith(placeholder) && String(value).startsWith('-')) {
        throw new UnfilledArgumentError(`${path} must not begin with -`);
      }
      return String(value);
    }),
  );

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
