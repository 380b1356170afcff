/** Routes of `interface-routes.json` that are not served yet. The list may only shrink. */
export const UNMOUNTED: readonly string[] = [];
