/**
 * What areas do when something happens in one below them, in its transaction. The area in which it happens declares the hook
 * in a file `*.hooks.ts` and calls all handlers, from the ground up; the others have theirs in their `area.ts`.
 */
export interface Hooks {}

/** The handlers of each hook. */
export type HookHandlers = { readonly [Name in keyof Hooks]?: readonly Hooks[Name][] };

/** The handlers of areas by hook, in the order of the areas. */
export function handlersOf(areas: readonly { hooks?: Partial<Hooks> }[]): HookHandlers {
  const handlers: Record<string, unknown[]> = {};
  for (const { hooks = {} } of areas)
    for (const [name, handler] of Object.entries(hooks)) (handlers[name] ??= []).push(handler);
  return handlers;
}
