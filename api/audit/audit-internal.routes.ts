import { z } from 'zod';
import { completeStoredExport, expireExports, failExport } from '../../domain/audit/exports.mutations.ts';
import { exportPage } from '../../domain/audit/exports.queries.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { DomainError, invalidField } from '../../domain/shared/errors.ts';
import { defineRoute } from '../http/define-route.ts';
import { Id, NoContent } from '../http/parameters.ts';
import { CompleteIn, FailIn, RowsPage, RowsQuery } from './audit.schemas.ts';

const params = z.object({ id: Id });
const GROUP = 'Audit: for external workers';

/** The trail is the whole tenant's: a token of some projects sees none of it. */
function assertNotScoped({ projectIds }: Actor): void {
  if (projectIds)
    throw new DomainError('forbidden', 'Forbidden - The trail is open to application tokens of all projects only');
}

export const auditInternalRoutes = [
  defineRoute({
    operationId: 'listAuditExportRows',
    method: 'get',
    path: '/api/audit/internal/exports/{id}/rows',
    group: GROUP,
    summary: 'Read the entries of an export, page by page in the order of the trail',
    description:
      'The next page begins after `nextCursorCreatedAt` and `nextCursorId`, which go together; both are null at the end.',
    roles: ['application'],
    params,
    query: RowsQuery,
    status: 200,
    response: RowsPage,
    async handle({ params: { id }, query: { cursorCreatedAt, cursorId, limit } }, { reads, actor }) {
      assertNotScoped(actor);
      if ((cursorId === undefined) !== (cursorCreatedAt === undefined)) {
        throw invalidField(
          cursorId === undefined ? '#/query/cursorId' : '#/query/cursorCreatedAt',
          'both parts of a cursor go together',
        );
      }
      const cursor = cursorId && cursorCreatedAt ? { id: cursorId, createdAt: cursorCreatedAt } : undefined;
      const rows = await exportPage(reads, id, cursor, limit);
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return { rows, nextCursorCreatedAt: last?.occurredAt ?? null, nextCursorId: last?.id ?? null };
    },
  }),

  defineRoute({
    operationId: 'completeAuditExport',
    method: 'post',
    path: '/api/audit/internal/exports/{id}/complete',
    group: GROUP,
    summary: 'Report that the file of an export is in the object store',
    description:
      'The key is `<tenant>/audit-exports/<export>.csv`, and the size must be that of the object. For an export that is settled nothing changes.',
    roles: ['application'],
    params,
    body: CompleteIn,
    status: 204,
    response: NoContent,
    audit: 'audit_export.completed',
    async handle({ params: { id }, body: { sha256 = null, ...file } }, { tx, reads, actor, adapters }) {
      assertNotScoped(actor);
      await completeStoredExport({ tx, reads }, adapters.objects.store, id, { ...file, sha256 });
    },
  }),

  defineRoute({
    operationId: 'failAuditExport',
    method: 'post',
    path: '/api/audit/internal/exports/{id}/fail',
    group: GROUP,
    summary: 'Report that an export failed',
    roles: ['application'],
    params,
    body: FailIn,
    status: 204,
    response: NoContent,
    audit: 'audit_export.failed',
    async handle({ params: { id }, body: { error } }, { tx, actor }) {
      assertNotScoped(actor);
      await tx((work) => failExport(work, id, error));
    },
  }),

  defineRoute({
    operationId: 'cleanUpAuditExports',
    method: 'post',
    path: '/api/audit/internal/exports/cleanup',
    group: GROUP,
    summary: "Remove the files of the tenant's exports that have expired",
    description: 'The service does so by itself every hour.',
    roles: ['application'],
    body: z.strictObject({}),
    status: 204,
    response: NoContent,
    audit: { none: 'each export that expires has an entry of its own, written only when there is one' },
    async handle(_, { tx, actor, adapters }) {
      assertNotScoped(actor);
      await expireExports(tx, adapters.objects.store);
    },
  }),
];
