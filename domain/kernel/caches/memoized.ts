/**
 * A function that makes the value of a key once, for as long as the function itself is kept: for one request, say.
 * @param keyOf tells which arguments are the same; themselves when absent.
 */
export function memoized<Argument, Value extends object | string>(
  make: (argument: Argument) => Value,
  keyOf: (argument: Argument) => unknown = (argument) => argument,
): (argument: Argument) => Value {
  const made = new Map<unknown, Value>();
  return (argument) => {
    const key = keyOf(argument);
    const value = made.get(key) ?? make(argument);
    made.set(key, value);
    return value;
  };
}
