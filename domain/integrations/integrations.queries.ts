import type { Encryption } from '../shared/encryption.ts';
import { DomainError, notFound, versionConflict } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { type Credentials, type IntegrationKind, needsCredentialsAnew } from './integration-rules.ts';

type Settings = Record<string, string | number | boolean>;

export interface IntegrationSettings {
  name: string;
  baseUrl: string | null;
  /** What the system needs to know beside credentials; readable by owners, so nothing secret. */
  settings: Settings;
  isActive: boolean;
}

export interface Integration extends IntegrationSettings {
  id: string;
  kind: IntegrationKind;
  /** Null: for the whole tenant. */
  repositoryIdentifier: string | null;
  credentialsUpdatedAt: string;
  version: number;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
}

/** Most integrations of a tenant in a list: one per kind and project. */
export const INTEGRATIONS_MAX = 1_000;

const COLUMNS = `i.id, i.kind, i.name, i.base_url as "baseUrl", i.settings, i.is_active as "isActive", i.version,
  p.identifier as "repositoryIdentifier", i.credentials_updated_at as "credentialsUpdatedAt", i.created_by as "createdBy",
  i.created_at as "createdAt", i.updated_at as "updatedAt"`;
const JOINED = 'integration i left join project p on p.tenant_id = i.tenant_id and p.id = i.project_id';

/** Credentials belong to one integration: moved to another row they do not open. */
export const integrationSecretContext = (integrationId: string): string => `integration:${integrationId}`;

const sealed = (encryption: Encryption, integrationId: string, credentials: Credentials): string =>
  encryption.encrypt(JSON.stringify(credentials), integrationSecretContext(integrationId));

export interface IntegrationFilter {
  kind?: IntegrationKind | undefined;
  projectId?: string | undefined;
}

/** The tenant's integrations by kind, the tenant-wide one of each first. At most `INTEGRATIONS_MAX`. */
export const listIntegrations = (
  { sql, tenantId }: Tx,
  { kind, projectId }: IntegrationFilter,
): Promise<Integration[]> =>
  sql(
    `select ${COLUMNS} from ${JOINED}
     where i.tenant_id = ? and (?::text is null or i.kind = ?) and (?::uuid is null or i.project_id = ?)
     order by i.kind, p.identifier nulls first, i.id limit ${INTEGRATIONS_MAX}`,
    [tenantId, kind ?? null, kind ?? null, projectId ?? null, projectId ?? null],
  );

/** Throws `not_found`. Locked, nobody else changes it before this transaction ends. */
export async function integrationById(
  { sql, tenantId }: Tx,
  id: string,
  { isLocked = false } = {},
): Promise<Integration> {
  const [row] = await sql<Integration>(
    `select ${COLUMNS} from ${JOINED} where i.tenant_id = ? and i.id = ? ${isLocked ? 'for update of i' : ''}`,
    [tenantId, id],
  );
  if (!row) throw notFound('The integration');
  return row;
}

/** One kind has at most one integration for the tenant and one for each project: `already_exists`. */
export async function createIntegration(
  tx: Tx,
  encryption: Encryption,
  input: IntegrationSettings & { kind: IntegrationKind; projectId: string | null; credentials: Credentials },
): Promise<Integration> {
  const id = newId();
  const made = await tx.sql(
    `insert into integration (id, tenant_id, project_id, kind, name, base_url, settings, is_active, credentials, created_by)
     values (?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?, ?) on conflict (tenant_id, kind, project_id) do nothing returning 1`,
    [
      id,
      tx.tenantId,
      input.projectId,
      input.kind,
      input.name,
      input.baseUrl,
      JSON.stringify(input.settings),
      input.isActive,
      sealed(encryption, id, input.credentials),
      tx.actor.email,
    ],
  );
  if (made.length === 0) {
    throw new DomainError(
      'already_exists',
      `There is already an integration of kind ${input.kind} for ${input.projectId ? 'this project' : 'the tenant'}`,
    );
  }
  const integration = await integrationById(tx, id);
  audit(tx, 'integration.created', integration, { after: integration });
  return integration;
}

export type IntegrationChange = { [Member in keyof IntegrationSettings]?: IntegrationSettings[Member] | undefined } & {
  credentials?: Credentials | undefined;
  version?: number | undefined;
};

/** Throws `not_found`, `version_conflict`; `invalid_request` when a new server would get the old credentials. */
export async function changeIntegration(
  tx: Tx,
  encryption: Encryption,
  id: string,
  change: IntegrationChange,
): Promise<Integration> {
  const before = await integrationById(tx, id, { isLocked: true });
  if (change.version !== undefined && change.version !== before.version)
    throw versionConflict('The integration', before.version);
  const { name = before.name, settings = before.settings, isActive = before.isActive, credentials } = change;
  const baseUrl = change.baseUrl === undefined ? before.baseUrl : change.baseUrl;
  if (!credentials && needsCredentialsAnew(before, { baseUrl })) {
    throw new DomainError('invalid_request', 'Another server needs the credentials anew', {
      fields: [{ pointer: '#/body/credentials', detail: 'required when baseUrl names another server' }],
    });
  }
  await tx.sql(
    `update integration set name = ?, base_url = ?, settings = ?::jsonb, is_active = ?, credentials = coalesce(?, credentials),
       credentials_updated_at = case when ? then now() else credentials_updated_at end, version = version + 1, updated_at = now()
     where tenant_id = ? and id = ?`,
    [
      name,
      baseUrl,
      JSON.stringify(settings),
      isActive,
      credentials ? sealed(encryption, id, credentials) : null,
      credentials !== undefined,
      tx.tenantId,
      id,
    ],
  );
  const after = await integrationById(tx, id);
  audit(tx, 'integration.updated', after, { before, after });
  return after;
}

/** Throws `not_found`. */
export async function deleteIntegration(tx: Tx, id: string): Promise<void> {
  const integration = await integrationById(tx, id, { isLocked: true });
  await tx.sql('delete from integration where tenant_id = ? and id = ?', [tx.tenantId, id]);
  audit(tx, 'integration.deleted', integration, { before: integration });
}

/** An integration ready to be used. */
export interface UsableIntegration {
  id: string;
  kind: IntegrationKind;
  baseUrl: string | null;
  settings: Settings;
  credentials: Credentials;
}

/**
 * The active integration of a kind with its credentials: that of the project, else that of the tenant, else undefined.
 * The read stands in the audit trail; what it gives goes into no log, workflow input or reply.
 * @param purpose for a reader of the trail: `fetch of acme/shop`.
 */
export async function findCredentials(
  tx: Tx,
  encryption: Encryption,
  { kind, projectId, purpose }: { kind: IntegrationKind; projectId?: string | undefined; purpose: string },
): Promise<UsableIntegration | undefined> {
  const [row] = await tx.sql<Integration & { sealed: string }>(
    `select ${COLUMNS}, i.credentials as sealed from ${JOINED}
     where i.tenant_id = ? and i.kind = ? and i.is_active and (i.project_id is null or i.project_id = ?)
     order by i.project_id is null limit 1`,
    [tx.tenantId, kind, projectId ?? null],
  );
  if (!row) return undefined;
  const credentials = JSON.parse(encryption.decrypt(row.sealed, integrationSecretContext(row.id))) as Credentials;
  audit(tx, 'integration.credentials_read', row, {}, `Credentials of ${row.name} (${row.kind}) read: ${purpose}`);
  return { id: row.id, kind: row.kind, baseUrl: row.baseUrl, settings: row.settings, credentials };
}

const audit = (
  tx: Tx,
  action: string,
  { id, name, kind, repositoryIdentifier }: Integration,
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
