import type { Tx } from '../../unit-of-work.ts';

declare module '../../kernel/hooks.ts' {
  interface Hooks {
    /** Somebody voted on an approval, or it was settled. */
    approvalChanged: (tx: Tx, approvalId: string) => Promise<void>;
  }
}
