import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';

/** Most workspaces of a tenant. */
export const WORKSPACES_MAX = 100;

const workspaces = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('chat_workspace as w')
    .where('w.tenantId', '=', tenantId)
    .select([
      'w.id',
      'w.teamId',
      'w.teamName',
      'w.appId',
      'w.appName',
      'w.botUserId',
      'w.isActive',
      'w.createdBy',
      'w.createdAt',
      'w.updatedAt',
      sql<boolean>`w.bot_token is not null`.as('hasBotToken'),
      sql<boolean>`w.app_token is not null`.as('hasAppToken'),
      sql<boolean>`w.signing_secret is not null`.as('hasSigningSecret'),
    ]);

/** A workspace as everybody in the tenant sees it: without its secrets. */
export type WorkspaceRow = Awaited<ReturnType<typeof listWorkspaces>>[number];

/** The tenant's workspaces, newest first. */
export function listWorkspaces(reads: Reads, { activeOnly }: { activeOnly: boolean }) {
  const found = workspaces(reads).orderBy('w.createdAt', 'desc').orderBy('w.id', 'desc').limit(sql.lit(WORKSPACES_MAX));
  return (activeOnly ? found.where('w.isActive', '=', true) : found).execute();
}

/** The workspace of that id of the platform; without one, the newest that is active. */
export const findWorkspace = (reads: Reads, teamId: string | undefined): Promise<WorkspaceRow | undefined> =>
  (teamId === undefined
    ? workspaces(reads).where('w.isActive', '=', true).orderBy('w.createdAt', 'desc').orderBy('w.id', 'desc')
    : workspaces(reads).where('w.teamId', '=', teamId)
  )
    .limit(sql.lit(1))
    .executeTakeFirst();

/** Encrypted secrets of a workspace. */
export const secretsOfWorkspace = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('chat_workspace')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select(['teamId', 'isActive', 'botToken', 'appToken', 'signingSecret'])
    .executeTakeFirst();

/** What names the tenant in the public addresses of its app. */
export const chatKeyOf = async ({ db, tenantId }: Reads): Promise<string> =>
  (await db.selectFrom('tenant').where('id', '=', tenantId).select('chatKey').executeTakeFirstOrThrow()).chatKey;
