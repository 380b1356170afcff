import { EnvironmentSchema } from './environments/environments.entities.ts';
import { IntegrationSchema } from './integrations/integrations.entities.ts';
import { ProjectSchema } from './projects/projects.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [EnvironmentSchema, IntegrationSchema, ProjectSchema] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
