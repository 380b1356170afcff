/** What keeps a local browser in: a jail of its own, the browser's own sandbox alone, or nothing. */
export const ISOLATIONS = ['jailed', 'sandboxed', 'none'] as const;
export type Isolation = (typeof ISOLATIONS)[number];
