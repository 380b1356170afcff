export { changes, type Change, type ChangeEvent, type ChangesOptions } from './changes.ts';
export { createClient, type QuaysideOptions } from './client.ts';
export type { Client } from './generated/client/index.ts';
export type { OperationId, Role } from './generated/operations.ts';
export * from './generated/sdk.gen.ts';
export type * from './generated/types.gen.ts';
export { items, pages } from './pages.ts';
export { type AnyResult, dataOf, type DataOf, ProblemError } from './problems.ts';
export { can } from './roles.ts';
