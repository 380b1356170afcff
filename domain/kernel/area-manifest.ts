import type { AttentionRule } from './attention/attention-rule.ts';
import type { Hooks } from './hooks.ts';
import type { EncryptedColumn } from './encryption/encrypted-columns.ts';

/** What an area of the product adds to the service, in its `area.ts`; `domain/areas.ts` lists them all. */
export interface Area {
  /** Columns whose values are encrypted. */
  encryptedColumns?: readonly EncryptedColumn[];
  /** What it does when something happens in areas below. */
  hooks?: Partial<Hooks>;
  /** What of it a person should look at. */
  attention?: readonly AttentionRule[];
}
