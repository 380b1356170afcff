import { checkChain } from '../../../domain/kernel/audit/check-chain.ts';
import { findEntries } from '../../../domain/kernel/audit/audit-list.queries.ts';
import { defineRoute } from '../../http/define-route.ts';
import { pageReply } from '../../http/replies.ts';
import { AuditPage, AuditQuery, CHECKED_MAX, VerifyOut, VerifyQuery } from './audit.schemas.ts';

export const auditRoutes = [
  defineRoute({
    operationId: 'listAuditEntries',
    method: 'get',
    path: '/api/audit',
    group: 'Audit',
    summary: 'List audit entries, newest first',
    description: '`total` is exact for every filter.',
    roles: ['owner'],
    projectScope: 'refused',
    query: AuditQuery,
    status: 200,
    response: AuditPage,
    async handle({ query: { limit, offset, ...filter } }, { reads, requestUrl }) {
      const { items, total } = await findEntries(reads.with({ pace: 'varies' }), filter, { limit, offset });
      return pageReply(requestUrl, { limit, offset, total }, { items, total, limit, offset });
    },
  }),

  defineRoute({
    operationId: 'verifyAuditTrail',
    method: 'get',
    path: '/api/audit/verify',
    group: 'Audit',
    summary: 'Verify the hash chain of the audit trail',
    description: `Recomputes the hashes of a range, by default of the whole trail, up to ${CHECKED_MAX.toLocaleString('en')} entries per request, and returns the first mismatch. \`hash\` is the SHA-256 of \`prevHash\` followed by the entry without \`hash\` as canonical JSON (RFC 8785).`,
    roles: ['owner'],
    projectScope: 'refused',
    query: VerifyQuery,
    status: 200,
    response: VerifyOut,
    async handle({ query: { fromSequence, toSequence } }, { reads }) {
      const { checked, firstBreak, head, lastSequence } = await reads.asSlow(() =>
        checkChain(reads, fromSequence, toSequence, CHECKED_MAX),
      );
      const end = Math.min(toSequence ?? head.sequence, head.sequence);
      return {
        isIntact: firstBreak === null,
        checked,
        fromSequence,
        toSequence: lastSequence,
        nextFromSequence: firstBreak === null && lastSequence < end ? lastSequence + 1 : null,
        firstBreak,
        head,
      };
    },
  }),
];
