import { DocumentSchema, DocumentCollectionSchema, DocumentVersionSchema } from './documents.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [DocumentSchema, DocumentCollectionSchema, DocumentVersionSchema] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
