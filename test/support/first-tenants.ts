import { hash } from '@node-rs/argon2';
import { newPassword } from '../../domain/kernel/encryption/secrets.ts';
import { connectDatabase } from '../../domain/kernel/data/database.ts';
import { connectOrm } from '../../domain/orm.ts';
import type { Database } from '../../domain/kernel/data/tables.ts';
import { createProvisioning } from '../../domain/identity/users/provisioning.mutations.ts';
import { insertMembership, insertUser } from './factories.ts';

interface Person {
  email: string;
  password: string;
}

/** The tenants of a test's app, with what is known of their people and tokens. */
export interface FirstTenants {
  acme: { id: string; owner: Person; member: Person; applicationToken: string };
  other: { id: string; owner: Person; applicationToken: string };
}

/** Makes the tenants `acme` and `other` in a migrated database, as an operator does. */
export async function makeFirstTenants(databaseUrl: string): Promise<FirstTenants> {
  const orm = connectOrm({ databaseUrl, poolSize: 2 });
  const { db, close } = connectDatabase({ databaseUrl, poolSize: 2 }, () => undefined);
  try {
    const provisioning = createProvisioning(orm);
    const make = async (slug: string) => {
      const owner = { email: `owner@${slug}.example`, password: newPassword() };
      const { tenantId } = await provisioning.createTenant({
        slug,
        ownerEmail: owner.email,
        password: owner.password,
      });
      const passwordHash = await hashCheaply(owner.password);
      await db.updateTable('user_account').set({ passwordHash }).where('email', '=', owner.email).execute();
      const { token } = await provisioning.createToken({ tenant: slug, name: 'ci', expiresInDays: 1 });
      return { id: tenantId, owner, applicationToken: token };
    };
    const [acme, other] = await Promise.all([make('acme'), make('other')]);
    return { acme: { ...acme, member: await makeMember(db, acme.id) }, other };
  } finally {
    await Promise.all([orm.close(true), close()]);
  }
}

async function makeMember(db: Database, tenantId: string): Promise<Person> {
  const member = { email: 'member@acme.example', password: newPassword() };
  const userId = await insertUser(db, member.email, await hashCheaply(member.password));
  await insertMembership({ db, tenantKey: { tenantId, tenantSlug: 'acme' } }, userId, 'member');
  return member;
}

/** As the service does, with the least of memory and passes: sign-in reads these from the hash. */
const hashCheaply = (password: string): Promise<string> => hash(password, { memoryCost: 8, timeCost: 1 });
