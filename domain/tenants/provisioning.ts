import type { MikroORM } from '@mikro-orm/postgresql';
import { createApplicationToken } from '../application-tokens/application-tokens.queries.ts';
import { hashChosenPassword } from '../passwords/passwords.ts';
import type { Actor } from '../shared/actor.ts';
import { DomainError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { type Tx, unitOfWork } from '../unit-of-work.ts';

/** The team that a tenant's first owner belongs to. */
const FIRST_TEAM = 'owners';
const SLUG = /^[a-z0-9-]{1,40}$/;

export interface CreatedTenant {
  tenantId: string;
  slug: string;
  ownerEmail: string;
}

/**
 * What the operator of the service does to tenants. It runs on the connection of the schema's owner, for which
 * row-level security does not hold; everything is audited in the tenant with actor type `operator`.
 */
export interface Provisioning {
  /**
   * Makes a tenant and its first owner; a person whom the service knows already keeps the password of before.
   * Throws `already_exists` for a taken slug, `invalid_request` for a malformed one or a weak password.
   */
  createTenant(input: {
    slug: string;
    ownerEmail: string;
    password: string;
  }): Promise<CreatedTenant & { isKnownUser: boolean }>;
  listTenants(): Promise<{ tenantId: string; slug: string; createdAt: string }[]>;
  /** Sets the password of a member of the tenant and ends that person's sessions. Throws `not_found`, `invalid_request` for a weak one. */
  resetPassword(input: { tenant: string; email: string; password: string }): Promise<void>;
  /** Notes in every tenant's trail that stored secrets are under another key now. */
  noteKeyRotation(keyId: string): Promise<void>;
  /** Throws `not_found` for an unknown tenant, `already_exists` for a taken name. */
  createToken(input: {
    tenant: string;
    name: string;
    expiresInDays: number;
  }): Promise<{ id: string; name: string; expiresAt: string; token: string }>;
}

export function createProvisioning(orm: MikroORM): Provisioning {
  const query = <Row>(statement: string, parameters: unknown[] = []): Promise<Row[]> =>
    orm.em.getConnection().execute(statement, parameters) as unknown as Promise<Row[]>;
  const actingIn = (tenantId: string) => unitOfWork(orm, { actor: operatorOf(tenantId) });
  const tenantId = async (slug: string): Promise<string> => {
    const [tenant] = await query<{ id: string }>('select id from tenant where slug = ?', [slug]);
    if (!tenant) throw new DomainError('not_found', `There is no tenant ${slug}`);
    return tenant.id;
  };

  return {
    async createTenant({ slug, ownerEmail, password }) {
      if (!SLUG.test(slug)) throw new DomainError('invalid_request', `The slug ${slug} must match ${SLUG.source}`);
      const email = ownerEmail.toLowerCase();
      const passwordHash = await hashChosenPassword(password, email, '#/password');
      const id = newId();
      const isKnownUser = await actingIn(id)(async (tx) => {
        const made = await tx.sql(
          'insert into tenant (id, slug) values (?, ?) on conflict (slug) do nothing returning 1',
          [id, slug],
        );
        if (made.length === 0) throw new DomainError('already_exists', `There is already a tenant ${slug}`);
        tx.audit({
          source: 'system',
          action: 'tenant.created',
          entityType: 'tenant',
          entityId: id,
          summary: `Tenant ${slug} created`,
        });
        return addOwner(tx, email, passwordHash);
      });
      return { tenantId: id, slug, ownerEmail: email, isKnownUser };
    },

    listTenants: () =>
      query('select id as "tenantId", slug, created_at as "createdAt" from tenant order by created_at, id'),

    async resetPassword({ tenant, email, password }) {
      const id = await tenantId(tenant);
      const passwordHash = await hashChosenPassword(password, email, '#/password');
      await actingIn(id)(async (tx) => {
        const [user] = await tx.sql<{ id: string }>(
          `select u.id from user_account u
           where u.email = ? and exists (select from membership m where m.user_id = u.id and m.tenant_id = ?)`,
          [email.toLowerCase(), id],
        );
        if (!user) throw new DomainError('not_found', `${email} is not a member of the tenant ${tenant}`);
        await tx.sql('select set_password(?, ?, null)', [user.id, passwordHash]);
        tx.audit({
          source: 'user',
          action: 'user.password_reset',
          entityType: 'user',
          entityId: user.id,
          summary: `Password of ${email} reset`,
        });
      });
    },

    async noteKeyRotation(keyId) {
      const tenants = await query<{ id: string }>('select id from tenant order by id');
      for (const { id } of tenants) {
        await actingIn(id)(async (tx) =>
          tx.audit({
            source: 'system',
            action: 'encryption.rotated',
            entityType: 'encryption_key',
            entityId: keyId,
            summary: `Stored secrets re-encrypted with the key ${keyId}`,
          }),
        );
      }
    },

    async createToken({ tenant, name, expiresInDays }) {
      return actingIn(await tenantId(tenant))((tx) => createApplicationToken(tx, { name, expiresInDays }));
    },
  };
}

const operatorOf = (tenantId: string): Actor => ({
  type: 'operator',
  id: 'operator',
  tenantId,
  role: 'owner',
  email: 'operator',
});

/** Answers whether the service knew the person before. */
async function addOwner(tx: Tx, email: string, passwordHash: string): Promise<boolean> {
  const [person] = await tx.sql<{ user_id: string; is_new: boolean }>('select * from person_of_address(?, ?)', [
    email,
    newId(),
  ]);
  if (!person) throw new Error('an address has a person once asked for');
  const { user_id: userId, is_new: isNew } = person;
  if (isNew) await tx.sql('select set_password(?, ?, null)', [userId, passwordHash]);
  const teamId = newId();
  await tx.sql('insert into team (id, tenant_id, slug) values (?, ?, ?)', [teamId, tx.tenantId, FIRST_TEAM]);
  await tx.sql(`insert into membership (id, tenant_id, team_id, user_id, role) values (?, ?, ?, ?, 'owner')`, [
    newId(),
    tx.tenantId,
    teamId,
    userId,
  ]);
  tx.audit({
    source: 'user',
    action: 'user.created',
    entityType: 'user',
    entityId: userId,
    summary: `Owner ${email} added`,
  });
  return !isNew;
}
