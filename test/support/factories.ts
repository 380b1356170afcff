import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { json } from '../../domain/kernel/data/columns.ts';
import type { NewRow } from '../../domain/kernel/data/statement.ts';
import type { Database, Tables } from '../../domain/kernel/data/tables.ts';
import { hashSecret, newInvitationToken } from '../../domain/kernel/encryption/secrets.ts';
import type { RunPayload } from '../../domain/delivery/flows/flow-payloads.ts';
import type { IntegrationKind } from '../../domain/projects/integrations/integration-rules.ts';
import { type Role, systemActor, type TenantKey } from '../../domain/kernel/shared/actor.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';

/** Where rows are inserted: a `TestApp`, or a database whose schema's owner is connected, past every fence. */
interface Place {
  db: Database;
  tenantKey: TenantKey;
}
type Given<T extends keyof Tables> = Partial<NewRow<T>>;

/** A statement has at most 65,535 parameters. */
const ROWS_PER_STATEMENT = 1_000;

async function inChunks<Row>(rows: readonly Row[], insert: (chunk: readonly Row[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT)
    await insert(rows.slice(start, start + ROWS_PER_STATEMENT));
}

const minutesAfter = (start: string | Date, minutes: number): string =>
  new Date(new Date(start).getTime() + minutes * 60_000).toISOString();

export const insertTenants = (db: Database, tenants: readonly NewRow<'tenant'>[]) =>
  db.insertInto('tenant').values(tenants).execute();

/** A person with an account in no tenant. */
export async function insertUser(db: Database, email: string, passwordHash: string | null = null): Promise<string> {
  const id = newId();
  await db.insertInto('user_account').values({ id, email, passwordHash }).execute();
  return id;
}

/** Adds a user to the tenant's team of owners, or changes the role that the user has there. */
export async function insertMembership({ db, tenantKey }: Place, userId: string, role: Role): Promise<void> {
  const team = await db
    .selectFrom('team')
    .where('tenantId', '=', tenantKey.tenantId)
    .where('slug', '=', 'owners')
    .select('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('membership')
    .values({ id: newId(), tenantId: tenantKey.tenantId, teamId: team.id, userId, role })
    .onConflict((conflict) => conflict.columns(['tenantId', 'teamId', 'userId']).doUpdateSet({ role }))
    .execute();
}

/** Accepts the invitation of an address; answers the id of its account. */
export async function acceptInvitationOf({ db, tenantKey }: Place, email: string): Promise<string> {
  const { userId } = await db
    .selectFrom('invited_user')
    .where('tenantId', '=', tenantKey.tenantId)
    .where('email', '=', email.toLowerCase())
    .select(sql<string>`accept_invitation(id, coalesce(user_of_address(email), id))`.as('userId'))
    .executeTakeFirstOrThrow();
  return userId;
}

/** A link for an invited user that was not mailed; returns its token. */
export async function insertInvitation({ db, tenantKey }: Place, invitedUserId: string): Promise<string> {
  const token = newInvitationToken();
  const { email } = await db
    .selectFrom('invited_user')
    .where('id', '=', invitedUserId)
    .select('email')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('invitation')
    .values({
      id: newId(),
      tenantId: tenantKey.tenantId,
      invitedUserId,
      email,
      tokenHash: hashSecret(token),
      expiresAt: minutesAfter(new Date(), 24 * 60),
      invitedBy: 'owner@example.com',
    })
    .execute();
  return token;
}

/** A webhook whose endpoint does not answer; returns its id. */
export async function insertWebhook({ db, tenantKey }: Place, given: Given<'webhook'> = {}): Promise<string> {
  const id = newId();
  await db
    .insertInto('webhook')
    .values({
      id,
      tenantId: tenantKey.tenantId,
      name: 'webhook',
      event: given.event ?? 'project.updated',
      events: [given.event ?? 'project.updated'],
      provider: 'http',
      url: 'http://127.0.0.1:9/',
      method: 'POST',
      secret: 'sealed',
      timeoutMs: 1,
      retryCount: 1,
      retryDelayMs: 1,
      createdBy: 'owner@example.com',
      ...given,
    })
    .execute();
  return id;
}

/** Integrations of the whole tenant, each of a kind of its own. */
export async function insertIntegrations(
  { db, tenantKey }: Place,
  integrations: readonly { id: string; credentials: string }[],
): Promise<void> {
  const rows = integrations.map(({ id, credentials }) => ({
    id,
    tenantId: tenantKey.tenantId,
    kind: `test-${id}` as IntegrationKind,
    name: 'integration',
    credentials,
    createdBy: 'owner@example.com',
  }));
  await inChunks(rows, (chunk) => db.insertInto('integration').values(chunk).execute());
}

export async function insertProject({ db, tenantKey }: Place, given: Given<'project'> = {}): Promise<string> {
  const id = newId();
  await db
    .insertInto('project')
    .values({
      id,
      tenantId: tenantKey.tenantId,
      identifier: 'acme/shop',
      platform: 'host-a',
      defaultBranch: 'main',
      ...given,
    })
    .execute();
  return id;
}

const projectOf = ({ db, tenantKey }: Place, identifier: string) =>
  db
    .selectFrom('project')
    .where('tenantId', '=', tenantKey.tenantId)
    .where('identifier', '=', identifier)
    .select(['tenantId', 'id as projectId'])
    .executeTakeFirstOrThrow();

export interface GivenRun extends Omit<Given<'flow_run'>, 'payload' | 'requestedBy'> {
  repositoryIdentifier: string;
  payload?: object;
  /** E-mail of the requester. */
  requestedBy: string;
}

/** A run that is executed elsewhere and waits for its gates; returns its id. */
export async function insertRun(place: Place, run: GivenRun): Promise<string> {
  const { repositoryIdentifier, requestedBy: email, payload = {}, ...given } = run;
  const { db } = place;
  const project = await projectOf(place, repositoryIdentifier);
  const { id: userId } = await db
    .selectFrom('user_account')
    .where('email', '=', email)
    .select('id')
    .executeTakeFirstOrThrow();
  const id = newId();
  await db
    .insertInto('flow_run')
    .values({
      id,
      ...project,
      hasWorkflow: false,
      taskType: 'execute-release',
      category: 'release',
      flowPath: 'flows/test',
      executionMode: 'flow',
      status: 'waiting_approval',
      displayStatus: 'Waiting',
      payload: json(payload as RunPayload),
      triggeredBy: email,
      requestedBy: json({ type: 'user', id: userId, ...place.tenantKey, role: 'member', email }),
      ...given,
    })
    .execute();
  return id;
}

/** Commits of a project's main branch as if they had been fetched, each the child of the one before; returns their ids. */
export async function insertCommits({ db, tenantKey }: Place, projectId: string, count = 1): Promise<string[]> {
  const shas = Array.from({ length: count }, () => randomBytes(20).toString('hex'));
  const place = { tenantId: tenantKey.tenantId, projectId };
  await db
    .insertInto('git_mirror')
    .values({ ...place, fetchedAt: new Date(), commits: count, revision: '1' })
    .execute();
  const commits = shas.map((sha, seq) => {
    const at = minutesAfter('2026-01-01T00:00:00Z', seq + 1);
    return {
      ...place,
      seq,
      sha,
      parents: seq === 0 ? [] : [seq - 1],
      authorName: 'Dana',
      authorEmail: 'dana@example.com',
      authoredAt: at,
      committedAt: at,
      subject: `Commit ${seq + 1}`,
      body: '',
      workItems: [],
      pullRequests: [],
    };
  });
  await db.insertInto('git_commit').values(commits).execute();
  await insertBranch({ db, tenantKey }, projectId, 'main', shas.at(-1) ?? '');
  return shas;
}

export const insertBranch = ({ db, tenantKey }: Place, projectId: string, name: string, sha: string) =>
  db.insertInto('git_ref').values({ tenantId: tenantKey.tenantId, projectId, kind: 'branch', name, sha }).execute();

/** Steps of approvals of one project, each of an approval of its own. */
export async function insertApprovalEvents(
  place: Place,
  repositoryIdentifier: string,
  events: readonly Given<'approval_event'>[],
): Promise<void> {
  const project = await projectOf(place, repositoryIdentifier);
  const now = new Date();
  const rows = events.map(
    (given): NewRow<'approval_event'> => ({
      id: newId(),
      ...project,
      repositoryIdentifier,
      approvalId: newId(),
      runId: newId(),
      taskType: 'execute-release',
      status: 'requested',
      source: 'run',
      approvers: [],
      requestedBy: 'dana@example.com',
      requestedAt: now,
      occurredAt: now,
      ...given,
    }),
  );
  await inChunks(rows, (chunk) => place.db.insertInto('approval_event').values(chunk).execute());
}

/** An approval of a run, with the step that led to its status. */
export async function insertApproval(
  place: Place,
  { repositoryIdentifier, runId, ...given }: { repositoryIdentifier: string; runId: string } & Given<'approval'>,
  step: Given<'approval_event'> = {},
): Promise<string> {
  const { db } = place;
  const { taskType, requestedBy } = await db
    .selectFrom('flow_run')
    .where('id', '=', runId)
    .select(['taskType', 'requestedBy'])
    .executeTakeFirstOrThrow();
  const approvalId = newId();
  await db
    .insertInto('approval')
    .values({
      id: approvalId,
      ...(await projectOf(place, repositoryIdentifier)),
      repositoryIdentifier,
      runId,
      taskType,
      approvers: [],
      minApprovals: 1,
      allowSelfApproval: false,
      expiresAt: minutesAfter(new Date(), 7 * 24 * 60),
      requesterId: requestedBy.id,
      requestedBy: requestedBy.email,
      ...given,
    })
    .execute();
  const { status = 'requested', resolvedBy = null, resolvedAt = null } = given;
  await insertApprovalEvents(place, repositoryIdentifier, [
    { approvalId, runId, taskType, status, requestedBy: requestedBy.email, resolvedBy, resolvedAt, ...step },
  ]);
  return approvalId;
}

/** A lease of half an hour from then on. */
export const lease = (heldAt: Date) => ({ heldAt, expiresAt: minutesAfter(heldAt, 30) });

/** Tickets for the lock of an environment; returns their ids. */
export async function insertLockTickets(
  { db, tenantKey }: Place,
  environmentId: string,
  tickets: readonly Given<'environment_lock_ticket'>[],
): Promise<string[]> {
  const environment = await db
    .selectFrom('environment')
    .where('id', '=', environmentId)
    .select(['tenantId', 'projectId', 'id as environmentId'])
    .executeTakeFirstOrThrow();
  const rows = tickets.map((given) => {
    const id = given.id ?? newId();
    const holder = json(systemActor(tenantKey, 'flow'));
    return { ...environment, holder, holderKey: id, leaseMinutes: 30, ...given, id };
  });
  await db.insertInto('environment_lock_ticket').values(rows).execute();
  return rows.map(({ id }) => id);
}

/** Deliveries of one webhook, created one a minute. */
export async function insertDeliveries(
  { db, tenantKey }: Place,
  webhook: { id: string; event: string },
  count: number,
  given: Given<'webhook_delivery'> = {},
): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    id: newId(),
    tenantId: tenantKey.tenantId,
    webhookId: webhook.id,
    event: webhook.event,
    payload: json<unknown>({}),
    createdAt: minutesAfter('2026-01-01T00:00:00Z', n + 1),
    ...given,
  }));
  await inChunks(rows, (chunk) => db.insertInto('webhook_delivery').values(chunk).execute());
}
