import { sql } from 'kysely';
import { isOneOf } from '../kernel/data/conditions.ts';
import type { Reads } from '../kernel/data/fenced-reads.ts';
import { OPEN_STATUSES } from './browser-sessions/session-rules.ts';
import { type AssignmentState, subjectOf } from './review-assignments/assignment-rules.ts';

/** How many of them are named. */
const NAMED = 5;

/** What of an org is in use for reviews, for people: `review assignment of pr 12`, `live browser session of ada@…`. */
export async function usesOfOrg({ db, tenantId }: Reads, usernames: readonly string[]): Promise<string[]> {
  const isOrg = sql<boolean>`lower(org_username) = any (${usernames.map((username) => username.toLowerCase())}::text[])`;
  const assignments = await db
    .selectFrom('review_assignment')
    .where('tenantId', '=', tenantId)
    .where('state', '=', sql.lit<AssignmentState>('active'))
    .where(isOrg)
    .orderBy('number')
    .limit(NAMED)
    .select(['assignmentType', 'assignmentKey'])
    .execute();
  const sessions = await db
    .selectFrom('browser_session')
    .where('tenantId', '=', tenantId)
    .where((eb) => isOneOf(eb, 'status', OPEN_STATUSES))
    .where(isOrg)
    .orderBy('createdAt')
    .limit(NAMED)
    .select('createdBy')
    .execute();
  return [
    ...assignments.map((assignment) => `review assignment of ${subjectOf(assignment)}`),
    ...sessions.map(({ createdBy: { email } }) => `browser session of ${email}`),
  ];
}
