import { ATTENTION } from '../../../domain/areas.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import { acknowledgeNeed } from '../../../domain/people/attention/attention.mutations.ts';
import { findNeeds, FOUND_MAX, type FoundNeed } from '../../../domain/people/attention/attention.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { pageReply } from '../../http/replies.ts';
import type { AttentionActions } from './attention-actions.ts';
import { AcknowledgementIn, AttentionItem, AttentionPage, AttentionQuery, byAttentionId } from './attention.schemas.ts';

const shown = (actor: Actor, need: FoundNeed, { actionOf }: AttentionActions) => {
  const { id, rule, title, reason, since, repositoryIdentifier, acknowledged } = need;
  const action = actionOf(actor, need);
  return { id, kind: rule.kind, title, reason, since, repositoryIdentifier, action, acknowledged };
};

export const attentionRoutes = [
  defineRoute({
    operationId: 'listAttention',
    method: 'get',
    path: '/api/attention',
    group: 'Attention',
    summary: 'List what a person should look at, the newest first',
    description: `Over all the tenant: runs that failed and that nobody has started again (14 days), deliveries that were given up (7 days) and webhooks that are disabled, orgs that refuse their credential, limits that will be used up within a day, mirrors that could not be read, tokens that expire within 14 days, approvals that expire within a day, locks that are held longer than those before while others wait, schedules whose run was refused, and browser hosts that are missing. Each has its reason, since when, and its one action.\n\nCallers are told of the kinds whose things they may read. What somebody has acknowledged is left out, unless it is asked for, until it says something else. Of each kind ${FOUND_MAX} are looked at. An application token that is limited to projects is not told what was acknowledged.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: AttentionQuery,
    status: 200,
    response: AttentionPage,
    async handle({ query }, { actor, adapters: { attention }, reads, now, requestUrl }) {
      const { kinds, repositoryIdentifier, includeAcknowledged, limit, offset } = query;
      if (repositoryIdentifier !== undefined) await projectInRequest(reads, repositoryIdentifier);
      const rules = attention
        .rulesFor(actor, ATTENTION)
        .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
      const { needs, cut } = await findNeeds(reads, rules, now());
      const wanted = needs.filter(
        (need) =>
          (includeAcknowledged || need.acknowledged === null) &&
          (repositoryIdentifier === undefined || need.repositoryIdentifier === repositoryIdentifier),
      );
      const page = { limit, offset, total: wanted.length };
      const items = wanted.slice(offset, offset + limit).map((need) => shown(actor, need, attention));
      return pageReply(requestUrl, page, { items, ...page, incompleteKinds: cut });
    },
  }),

  defineRoute({
    operationId: 'acknowledgeAttention',
    method: 'post',
    path: '/api/attention/{id}/acknowledge',
    group: 'Attention',
    summary: 'Acknowledge something for the tenant',
    description:
      'It is left out of the list until it says something else: a run that fails anew, another reason, another delivery that was given up. Acknowledging it again changes nothing.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    params: byAttentionId,
    body: AcknowledgementIn,
    audit: 'attention.acknowledged',
    status: 200,
    response: AttentionItem,
    async handle({ params: { id }, body }, { actor, adapters: { attention }, tx }) {
      const rules = attention.rulesFor(actor, ATTENTION);
      const need = await tx((work) => acknowledgeNeed(work, rules, { id, comment: body?.comment ?? null }));
      return shown(actor, need, attention);
    },
  }),
];
