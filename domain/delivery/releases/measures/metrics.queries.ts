import type { Reads } from '../../../kernel/data/fenced-reads.ts';

export type EnvironmentLabel = Awaited<ReturnType<typeof environmentLabels>>[number];

/** All environments of a project. */
export const environmentLabels = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .select(['id', 'name', 'category', 'orchestrationOrder', 'isActive'])
    .execute();
