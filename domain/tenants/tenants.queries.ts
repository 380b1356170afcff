import { sql } from 'kysely';

/** The slug of the tenant that a column names, as `tenantSlug`; also where the tenant itself cannot be read. */
export const tenantSlugOf = (column: string) => sql<string>`tenant_slug(${sql.ref(column)})`.as('tenantSlug');
