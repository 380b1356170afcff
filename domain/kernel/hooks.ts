import type { Tx } from '../unit-of-work.ts';

/**
 * What areas do when something happens in one below them, in its transaction. The area in which it happens declares the hook
 * in a file `*.hooks.ts` and tells of it by `tx.tell`; the others have their handlers in their `area.ts`.
 */
export interface Hooks {}

/** What handlers of a hook are told beside the transaction. */
export type Told<Name extends keyof Hooks> =
  Parameters<Hooks[Name]> extends [unknown, ...infer Beside] ? Beside : never;

/** What a handler of a hook says to the one who told it. */
export type Said<Name extends keyof Hooks> = Awaited<ReturnType<Hooks[Name]>>;

/** The handlers of each hook. */
export type HookHandlers = {
  readonly [Name in keyof Hooks]?: readonly ((tx: Tx, ...told: Told<Name>) => Promise<Said<Name>>)[];
};

/** The handlers of areas by hook, in the order of the areas. */
export function handlersOf(areas: readonly { hooks?: Partial<Hooks> }[]): HookHandlers {
  const handlers: Record<string, unknown[]> = {};
  for (const { hooks = {} } of areas)
    for (const [name, handler] of Object.entries(hooks)) (handlers[name] ??= []).push(handler);
  return handlers;
}
