import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newPassword } from '../domain/kernel/encryption/secrets.ts';
import { connectOrm } from '../domain/orm.ts';
import { operatorAccess } from './operator-database.ts';
import { createProvisioning } from '../domain/identity/users/provisioning.mutations.ts';

export interface Bootstrapped {
  tenant: string;
  ownerEmail: string;
  /** Only when the tenant was created just now. */
  ownerPassword?: string;
  created: boolean;
}

/**
 * Creates the first tenant and its owner when the service has none. A password that was not given is random, answered
 * once and kept in `owner.json` of the data directory, readable by its owner alone.
 */
export async function bootstrap(options: {
  databaseUrl: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
}): Promise<Bootstrapped> {
  const { databaseUrl, dataDir, env } = options;
  const slug = env.BOOTSTRAP_TENANT || 'demo';
  const ownerEmail = env.BOOTSTRAP_OWNER_EMAIL || 'owner@example.com';
  const orm = connectOrm(operatorAccess(databaseUrl));
  try {
    const provisioning = createProvisioning(orm);
    const [first] = await provisioning.listTenants();
    if (first) return { tenant: first.slug, ownerEmail, created: false };
    const password = env.BOOTSTRAP_OWNER_PASSWORD || newPassword();
    await provisioning.createTenant({ slug, ownerEmail, password });
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(
      join(dataDir, 'owner.json'),
      `${JSON.stringify({ tenant: slug, email: ownerEmail, password }, null, 2)}\n`,
      { mode: 0o600 },
    );
    return { tenant: slug, ownerEmail, ownerPassword: password, created: true };
  } finally {
    await orm.close(true);
  }
}
