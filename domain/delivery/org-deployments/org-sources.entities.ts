import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { ComponentName } from '../source/source-build.port.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';

/** The source of a project that an org took last by a deployment of the service. */
export const OrgSourceSchema = defineEntity({
  name: 'OrgSource',
  tableName: 'org_source',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    /** The registered org. */
    orgId: p.uuid(),
    /** The platform's id of the org: a sandbox that was refreshed has another, and runs what its production runs. */
    platformOrgId: p.text().nullable(),
    environmentId: p.uuid().nullable(),
    commitSha: p.text(),
    /** Packages of `sfdx-project.json` that it took of the commit, by name or directory; null: all. */
    packages: jsonColumn<readonly string[]>().nullable(),
    runId: p.uuid(),
    /** Id of the deployment in the org. */
    deploymentId: p.text(),
    deployedAt: p.datetime(3),
    /** The digest of the replacements and ignored paths of the environment then; null: it had none. */
    settingsDigest: p.text().nullable(),
    /** What was deleted in the source, and not in the org: no run allowed it yet. */
    pending: jsonColumn<ComponentName[]>().defaultRaw("'[]'::jsonb"),
  },
});
