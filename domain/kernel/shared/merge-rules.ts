import { isObject } from '../json/json-rules.ts';

/** An object after a merge patch: objects merge at any depth, arrays are replaced, `null` takes a member out (RFC 7396). */
export function mergePatch(current: object, patch: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...current };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete merged[key];
    else if (isObject(value)) merged[key] = mergePatch(isObject(merged[key]) ? merged[key] : {}, value);
    else merged[key] = value;
  }
  return merged;
}

/** Some members of an object; one that is undefined stays as it is. */
export type Patch<T> = { [K in keyof T]?: T[K] | undefined };

/** The members that a patch gives. */
export const definedMembers = <T extends object>(patch: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as never;
