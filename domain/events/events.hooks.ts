import type { Tx } from '../unit-of-work.ts';

declare module '../kernel/hooks.ts' {
  interface Hooks {
    /** A request names a project by its identifier. Throws `invalid_request` where there is none that its caller reaches. */
    projectNamed: (tx: Tx, identifier: string) => Promise<void>;
  }
}
