import {
  BuildPreviewSchema,
  BuildStatusSchema,
  HookDeliverySchema,
  HookSecretSchema,
} from './builds/builds.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [BuildPreviewSchema, BuildStatusSchema, HookDeliverySchema, HookSecretSchema] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
