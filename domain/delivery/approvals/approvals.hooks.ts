import type { Tx } from '../../unit-of-work.ts';

declare module '../../kernel/hooks.port.ts' {
  interface Hooks {
    /** Somebody voted on an approval, or it was settled. */
    approvalChanged: (tx: Tx, approvalId: string) => Promise<void>;
  }
}

/** Tells other areas that an approval changed. */
export async function tellOfApproval(tx: Tx, approvalId: string): Promise<void> {
  for (const then of tx.hooked('approvalChanged')) await then(tx, approvalId);
}
