import { z } from 'zod';
import { isActive, mayChange } from '../../../domain/review/review-assignments/assignment-rules.ts';
import { findAssignment } from '../../../domain/review/review-assignments/review-assignments.queries.ts';
import { LEASE_HOURS_MAX } from '../../../domain/review/review-pools/review-pools.mutations.ts';
import { findPool } from '../../../domain/review/review-pools/review-pools.queries.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { isId } from '../../../domain/kernel/shared/ids.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { basePathOf, htmlReply } from '../../http/server/html-page.ts';
import { NoContent } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';
import type { PublicScope } from '../../http/scope.ts';
import { extendLease, releaseLease } from './lease-changes.ts';
import { noReviewEnvPage, reviewEnvPage } from './review-env-page.ts';

const GROUP = 'Review assignments';
const PATH = '/review-env/{assignmentId}';
const HOUR_MS = 3_600_000;

const ofAssignment = z.object({ assignmentId: z.string().max(100) });

/** The form of the page; `hours` for an extension. */
const ChangeIn = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('extend'),
    hours: z
      .string()
      .regex(/^\d{1,3}$/, 'must be a number of hours')
      .transform(Number)
      .refine((hours) => hours >= 1 && hours <= LEASE_HOURS_MAX, `must be from 1 to ${LEASE_HOURS_MAX}`),
  }),
  z.strictObject({ action: z.literal('release') }),
]);

const pathOf = (publicUrl: string, id: string): string =>
  `${basePathOf(publicUrl)}/review-env/${encodeURIComponent(id)}`;

const toPath = (location: string) => reply(undefined, { status: 302, headers: { Location: location } });

const signInFirst = ({ publicUrl }: PublicScope, id: string) =>
  toPath(`${basePathOf(publicUrl)}/api/auth/sign-in?${new URLSearchParams({ next: pathOf(publicUrl, id) })}`);

/** The page as the visitor sees it; with the reason for which a change was refused. */
async function shown(scope: PublicScope, actor: Actor, id: string, refusal?: { error: string; status: number }) {
  const found = isId(id)
    ? await scope.actingAs(actor)(async (work) => {
        const assignment = await findAssignment(work, id);
        const pool = assignment?.poolId ? await findPool(work, assignment.poolId) : undefined;
        return assignment && { assignment, maxLeaseHours: pool?.maxLeaseHours ?? LEASE_HOURS_MAX };
      })
    : undefined;
  if (!found) return htmlReply(noReviewEnvPage(), 404);
  const { assignment, maxLeaseHours } = found;
  const { state, assignedAt, expiresAt, orgExpiresAt } = assignment;
  const isExtendable = isActive(state) && assignedAt !== null && expiresAt !== null;
  const orgEnd = orgExpiresAt === null ? Infinity : Date.parse(orgExpiresAt);
  const latest = Math.min(Date.parse(assignedAt ?? '') + maxLeaseHours * HOUR_MS, orgEnd);
  const hoursLeft = isExtendable ? Math.max(0, Math.floor((latest - scope.now().getTime()) / HOUR_MS)) : 0;
  const isChangeable = mayChange(actor, assignment);
  const basePath = basePathOf(scope.publicUrl);
  const content = reviewEnvPage({ basePath, assignment, isChangeable, hoursLeft, error: refusal?.error });
  return htmlReply(content, refusal?.status ?? 200);
}

export const reviewEnvRoutes = [
  definePublicRoute({
    operationId: 'getReviewEnvPage',
    method: 'get',
    path: PATH,
    group: GROUP,
    summary: 'Show a review assignment as a page',
    description:
      'With a session: what it is for, whose it is, until when, and forms to extend and release it. Without one, redirects to the sign-in page, which returns here.',
    params: ofAssignment,
    status: 200,
    otherStatuses: [302],
    response: NoContent,
    contentTypes: ['text/html'],
    async handle({ params: { assignmentId } }, scope) {
      const actor = await scope.caller();
      return actor ? shown(scope, actor, assignmentId) : signInFirst(scope, assignmentId);
    },
  }),
  definePublicRoute({
    operationId: 'submitReviewEnvForm',
    method: 'post',
    path: PATH,
    group: GROUP,
    summary: 'Submit a form of the page of a review assignment',
    description: 'Redirects to the page; where the change is refused, shows it with the reason.',
    params: ofAssignment,
    body: ChangeIn,
    bodyType: 'form',
    status: 302,
    response: NoContent,
    contentTypes: ['text/html'],
    errors: ['forbidden', 'invalid_transition'],
    audit: ['review_assignment.extended', 'review_assignment.released', 'browser_session.ended'],
    async handle({ params: { assignmentId }, body }, scope) {
      const actor = await scope.caller();
      if (!actor) return signInFirst(scope, assignmentId);
      if (!isId(assignmentId)) return shown(scope, actor, assignmentId);
      const asking = { actor, tx: scope.actingAs(actor), scope };
      try {
        if (body.action === 'extend') await extendLease(asking, assignmentId, body.hours);
        else await releaseLease(asking, assignmentId);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (error.code === 'not_found') return shown(scope, actor, assignmentId);
        if (error.code !== 'forbidden' && error.code !== 'invalid_transition') throw error;
        const status = error.code === 'forbidden' ? 403 : 409;
        return shown(scope, actor, assignmentId, { error: `${error.message}.`, status });
      }
      return toPath(pathOf(scope.publicUrl, assignmentId));
    },
  }),
];
