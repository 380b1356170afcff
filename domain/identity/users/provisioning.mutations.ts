import type { MikroORM } from '@mikro-orm/postgresql';
import { createApplicationToken } from '../application-tokens/application-tokens.mutations.ts';
import type { Tables } from '../../kernel/data/tables.ts';
import { hashChosenPassword, setPassword } from '../passwords/passwords.mutations.ts';
import type { Actor, TenantKey } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { acceptInvitation } from '../invitations/acceptance.mutations.ts';
import { invitationOfAddress } from '../invitations/invitations.queries.ts';
import { type Tx, unitOfWork } from '../../unit-of-work.ts';
import { putMembership, putTeam } from './memberships.queries.ts';
import { personOfAddress } from './users.queries.ts';

/** The team that a tenant's first owner belongs to. */
const FIRST_TEAM = 'owners';
const SLUG = /^[a-z0-9-]{1,40}$/;

export interface CreatedTenant {
  tenantId: string;
  slug: string;
  ownerEmail: string;
}

/**
 * What the operator of the service does to tenants. It connects as the operators' role, for which every
 * fence is open; everything is audited in the tenant with actor type `operator`.
 */
export interface Provisioning {
  /**
   * Makes a tenant and its first owner; a person whom the service knows already keeps their password.
   * Throws `already_exists` for a taken slug, `invalid_request` for a malformed one or a weak password.
   */
  createTenant(input: {
    slug: string;
    ownerEmail: string;
    password: string;
  }): Promise<CreatedTenant & { isKnownUser: boolean }>;
  listTenants(): Promise<{ tenantId: string; slug: string; createdAt: string }[]>;
  /** Sets the password of a user of the tenant, accepts the invitation for them, and ends their sessions. Throws `not_found`, `invalid_request` for a weak one. */
  resetPassword(input: { tenant: string; email: string; password: string }): Promise<void>;
  /** Notes in every tenant's trail that stored secrets were re-encrypted with another key. */
  noteKeyRotation(keyId: string): Promise<void>;
  /** Throws `not_found` for an unknown tenant, `already_exists` for a taken name. */
  createToken(input: {
    tenant: string;
    name: string;
    expiresInDays: number;
  }): Promise<{ id: string; name: string; expiresAt: string; token: string }>;
}

/** @param orm connected as the operators' role. */
export function createProvisioning(orm: MikroORM): Provisioning {
  const database = orm.em.fork().getKysely<Tables>();
  const actingIn = (tenant: TenantKey) => unitOfWork(orm, { actor: operatorOf(tenant) });
  const tenantOf = async (slug: string): Promise<TenantKey> => {
    const tenant = await database.selectFrom('tenant').where('slug', '=', slug).select('id').executeTakeFirst();
    if (!tenant) throw new DomainError('not_found', `There is no tenant ${slug}`);
    return { tenantId: tenant.id, tenantSlug: slug };
  };

  return {
    async createTenant({ slug, ownerEmail, password }) {
      if (!SLUG.test(slug)) throw new DomainError('invalid_request', `The slug ${slug} must match ${SLUG.source}`);
      const email = ownerEmail.toLowerCase();
      const passwordHash = await hashChosenPassword(password, email, 'password');
      const id = newId();
      const isKnownUser = await actingIn({ tenantId: id, tenantSlug: slug })(async (tx) => {
        await addTenant(tx, slug);
        return addOwner(tx, email, passwordHash);
      });
      return { tenantId: id, slug, ownerEmail: email, isKnownUser };
    },

    listTenants: () =>
      database
        .selectFrom('tenant')
        .orderBy('createdAt')
        .orderBy('id')
        .select(['id as tenantId', 'slug', 'createdAt'])
        .execute(),

    async resetPassword({ tenant, email, password }) {
      const key = await tenantOf(tenant);
      const passwordHash = await hashChosenPassword(password, email, 'password');
      await actingIn(key)((tx) => setPasswordOf(tx, email, passwordHash));
    },

    async noteKeyRotation(keyId) {
      const tenants = await database
        .selectFrom('tenant')
        .orderBy('id')
        .select(['id as tenantId', 'slug as tenantSlug'])
        .execute();
      for (const tenant of tenants) {
        await actingIn(tenant)(async (tx) =>
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
      return actingIn(await tenantOf(tenant))((tx) => createApplicationToken(tx, { name, expiresInDays }));
    },
  };
}

const operatorOf = ({ tenantId, tenantSlug }: TenantKey): Actor => ({
  type: 'operator',
  id: 'operator',
  tenantId,
  tenantSlug,
  role: 'owner',
  email: 'operator',
});

/** Answers whether the service knew the person before. */
async function addOwner(tx: Tx, email: string, passwordHash: string): Promise<boolean> {
  const { userId, isNew } = await personOfAddress(tx.db, email);
  if (isNew) await setPassword(tx.db, userId, passwordHash);
  await putMembership(tx, { id: userId, isInvited: false }, await putTeam(tx, FIRST_TEAM), 'owner');
  tx.audit({
    source: 'user',
    action: 'user.created',
    entityType: 'user',
    entityId: userId,
    summary: `Owner ${email} added`,
  });
  return !isNew;
}

async function addTenant(tx: Tx, slug: string): Promise<void> {
  const id = tx.tenantId;
  const added = await tx.db
    .insertInto('tenant')
    .values({ id, slug })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) throw new DomainError('already_exists', `There is already a tenant ${slug}`);
  tx.audit({
    source: 'system',
    action: 'tenant.created',
    entityType: 'tenant',
    entityId: id,
    summary: `Tenant ${slug} created`,
  });
}

async function setPasswordOf(tx: Tx, email: string, passwordHash: string): Promise<void> {
  const invited = await invitationOfAddress(tx, email);
  if (invited) await acceptInvitation(tx, invited.id, invited.userId ?? invited.id);
  const user = await tx.db
    .selectFrom('user_account as u')
    .innerJoin('membership as m', 'm.userId', 'u.id')
    .where('u.email', '=', email.toLowerCase())
    .where('m.tenantId', '=', tx.tenantId)
    .select('u.id')
    .executeTakeFirst();
  if (!user) throw new DomainError('not_found', `${email} is not a member of the tenant ${tx.actor.tenantSlug}`);
  await setPassword(tx.db, user.id, passwordHash);
  tx.audit({
    source: 'user',
    action: 'user.password_reset',
    entityType: 'user',
    entityId: user.id,
    summary: `Password of ${email} reset`,
  });
}
