import { LockMode } from '@mikro-orm/core';
import { json } from '../../kernel/data/columns.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError, escapePointer, invalidField, notFound, versionConflict } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { projectInRequest } from '../projects/projects.queries.ts';
import type { OutboundAddresses } from '../../kernel/outbound/outbound-addresses.ts';
import { isSameRecipient } from '../../kernel/outbound/recipient-rules.ts';
import {
  type Credentials,
  type CredentialsOf,
  credentialsProblem,
  type HostKind,
  type IntegrationKind,
  type IntegrationOptions,
  recipientOf,
  settingsProblems,
} from './integration-rules.ts';
import { Integration } from './integrations.entities.ts';
import { integrationById, type IntegrationRow, usableIntegration } from './integrations.queries.ts';

/** The context under which credentials are encrypted: copied to another integration's row they do not decrypt. */
export const integrationSecretContext = (integrationId: string): string => `integration:${integrationId}`;

const encrypted = (encryption: Encryption, integrationId: string, credentials: Credentials): string =>
  encryption.encrypt(JSON.stringify(credentials), integrationSecretContext(integrationId));

type IntegrationSettings = Pick<IntegrationRow, 'name' | 'baseUrl' | 'settings' | 'isActive'>;

interface NewIntegration extends IntegrationSettings {
  kind: IntegrationKind;
  /** Null: for the whole tenant. */
  repositoryIdentifier: string | null;
  credentials: Credentials;
}

interface IntegrationParts {
  encryption: Encryption;
  /** The addresses that integrations may have. */
  outbound: OutboundAddresses;
}

function assertCallable(baseUrl: string | null, outbound: OutboundAddresses): void {
  const refusal = baseUrl === null ? undefined : outbound.refusedUrl(baseUrl);
  if (refusal !== undefined) throw invalidField('baseUrl', refusal);
}

function assertSuitable(kind: IntegrationKind, credentials: Credentials): void {
  const problem = credentialsProblem(kind, credentials);
  if (problem !== undefined) throw invalidField('credentials', problem);
}

function assertMeaningful(kind: IntegrationKind, settings: IntegrationOptions): void {
  const fields = settingsProblems(kind, settings).map(({ name, detail }) => ({
    pointer: `settings/${escapePointer(name)}`,
    detail,
  }));
  const [first] = fields;
  if (first) throw new DomainError('invalid_request', `${first.pointer} ${first.detail}`, { fields });
}

/**
 * One kind has at most one integration for the tenant and one for each project, else `already_exists`. Throws
 * `invalid_request` for an unknown project and for an address that must not be called.
 */
export async function createIntegration(
  tx: Tx,
  { encryption, outbound }: IntegrationParts,
  { repositoryIdentifier, credentials, settings, ...input }: NewIntegration,
): Promise<IntegrationRow> {
  assertCallable(input.baseUrl, outbound);
  assertSuitable(input.kind, credentials);
  assertMeaningful(input.kind, settings);
  const project = repositoryIdentifier === null ? null : await projectInRequest(tx, repositoryIdentifier);
  const id = newId();
  const added = await tx.db
    .insertInto('integration')
    .values({
      ...input,
      id,
      tenantId: tx.tenantId,
      projectId: project?.id ?? null,
      settings: json(settings),
      credentials: encrypted(encryption, id, credentials),
      createdBy: tx.actor.email,
    })
    .onConflict((conflict) => conflict.columns(['tenantId', 'kind', 'projectId']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) {
    throw new DomainError(
      'already_exists',
      `There is already an integration of kind ${input.kind} for ${project ? 'this project' : 'the tenant'}`,
    );
  }
  await tx.tell('integrationChanged', { kind: input.kind, projectId: project?.id ?? null });
  const integration = await integrationById(tx, id);
  note(tx, 'integration.created', integration, { after: integration });
  return integration;
}

export type IntegrationChange = { [Member in keyof IntegrationSettings]?: IntegrationSettings[Member] | undefined } & {
  credentials?: Credentials | undefined;
  version?: number | undefined;
};

/** Throws `not_found`, `version_conflict`; `invalid_request` when a new server would get the old credentials. */
export async function changeIntegration(
  tx: Tx,
  { encryption, outbound }: IntegrationParts,
  id: string,
  { version, credentials, ...change }: IntegrationChange,
): Promise<IntegrationRow> {
  assertCallable(change.baseUrl ?? null, outbound);
  const integration = await lockedIntegration(tx, id);
  const before = await integrationById(tx, id);
  if (credentials) assertSuitable(before.kind, credentials);
  if (change.settings) assertMeaningful(before.kind, change.settings);
  if (version !== undefined && version !== integration.version)
    throw versionConflict('The integration', integration.version);
  const {
    name = before.name,
    baseUrl = before.baseUrl,
    settings = before.settings,
    isActive = before.isActive,
  } = change;
  const recipient = recipientOf({ kind: before.kind, baseUrl, settings });
  if (!credentials && !isSameRecipient(recipientOf(before), recipient, 'origin')) {
    const by = before.baseUrl === baseUrl ? 'settings/provider' : 'baseUrl';
    throw new DomainError('invalid_request', 'A change to another server needs the credentials again', {
      fields: [{ pointer: 'credentials', detail: `required when ${by} names another server` }],
    });
  }
  Object.assign(integration, { name, baseUrl, settings, isActive, version: integration.version + 1 });
  if (credentials) {
    integration.credentials = encrypted(encryption, id, credentials);
    integration.credentialsUpdatedAt = tx.now;
  }
  await tx.em.flush();
  if (isActive)
    await tx.tell('integrationChanged', { kind: integration.kind, projectId: integration.projectId ?? null });
  const after = await integrationById(tx, id);
  note(tx, 'integration.updated', after, { before, after });
  return after;
}

/** Throws `not_found`. */
export async function deleteIntegration(tx: Tx, id: string): Promise<void> {
  const integration = await lockedIntegration(tx, id);
  const before = await integrationById(tx, id);
  tx.em.remove(integration);
  note(tx, 'integration.deleted', before, { before });
}

async function lockedIntegration({ em, tenantId }: Tx, id: string): Promise<Integration> {
  const integration = await em.findOne(Integration, { id, tenantId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!integration) throw notFound('The integration');
  return integration;
}

/** An integration ready to be used. */
export interface UsableIntegration<Kind extends IntegrationKind = HostKind>
  extends Pick<IntegrationRow, 'id' | 'kind' | 'baseUrl' | 'settings'> {
  credentials: CredentialsOf<Kind>;
}

/**
 * The active integration of a kind with its credentials: that of the project, else that of the tenant, else undefined.
 * The read is noted in the audit trail; what it answers goes into no log, workflow input or reply.
 * @param purpose for a reader of the trail: `fetch of acme/shop`.
 */
export async function findCredentials<Kind extends IntegrationKind>(
  tx: Tx,
  encryption: Encryption,
  { kind, projectId, purpose }: { kind: Kind; projectId?: string | undefined; purpose: string },
): Promise<UsableIntegration<Kind> | undefined> {
  const row = await usableIntegration(tx, kind, projectId);
  if (!row) return undefined;
  const { id, name, baseUrl, settings } = row;
  const credentials = JSON.parse(
    encryption.decrypt(row.credentials, integrationSecretContext(id)),
  ) as CredentialsOf<Kind>;
  note(tx, 'integration.credentials_read', row, {}, `Credentials of ${name} (${row.kind}) read: ${purpose}`);
  return { id, kind: row.kind, baseUrl, settings, credentials };
}

const note = (
  tx: Tx,
  action: string,
  { id, name, kind, repositoryIdentifier }: Pick<IntegrationRow, 'id' | 'name' | 'kind' | 'repositoryIdentifier'>,
  change: { before?: unknown; after?: unknown },
  summary = `Integration ${name} (${kind}) ${action.split('.')[1]}`,
): void =>
  tx.audit({
    source: 'integration',
    action,
    entityType: 'integration',
    entityId: id,
    repositoryIdentifier,
    summary,
    ...change,
  });
