import { defineEntity, p } from '@mikro-orm/core';

export const PackageVersionSchema = defineEntity({
  name: 'PackageVersion',
  tableName: 'package_version',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    name: p.text().primary(),
    version: p.text().primary(),
    candidateId: p.uuid(),
    commitSha: p.text(),
    createdAt: p.datetime(3),
    /** How often it was taken along to another commit. */
    moves: p.integer().default(0),
  },
});
export class PackageVersion extends PackageVersionSchema.class {}
PackageVersionSchema.setClass(PackageVersion);
