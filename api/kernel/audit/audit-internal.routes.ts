import { z } from 'zod';
import { completeStoredExport, expireExports, failExport } from '../../../domain/kernel/audit/exports.mutations.ts';
import { exportPage } from '../../../domain/kernel/audit/exports.queries.ts';
import { invalidField } from '../../../domain/kernel/shared/errors.ts';
import { defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { CompleteIn, FailIn, RowsPage, RowsQuery } from './audit.schemas.ts';

const GROUP = 'Audit: internal';

export const auditInternalRoutes = [
  defineRoute({
    operationId: 'listAuditExportRows',
    method: 'get',
    path: '/api/audit/internal/exports/{id}/rows',
    group: GROUP,
    summary: 'List the entries of an export, in the order of the trail',
    description:
      'For the next page, send both `nextCursorCreatedAt` and `nextCursorId`; both are null on the last page.',
    roles: ['application'],
    projectScope: 'refused',
    params: byId,
    query: RowsQuery,
    status: 200,
    response: RowsPage,
    async handle({ params: { id }, query: { cursorCreatedAt, cursorId, limit } }, { reads }) {
      if ((cursorId === undefined) !== (cursorCreatedAt === undefined)) {
        throw invalidField(
          cursorId === undefined ? '#/query/cursorId' : '#/query/cursorCreatedAt',
          'both parts of a cursor must be given together',
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
    summary: 'Report that the file of an export has been stored',
    description:
      'The key in the object store must be `<tenant>/audit-exports/<export>.csv`, and the size that of the object. An export that has completed or failed is not changed.',
    roles: ['application'],
    projectScope: 'refused',
    params: byId,
    body: CompleteIn,
    status: 204,
    response: NoContent,
    audit: 'audit_export.completed',
    async handle({ params: { id }, body: { sha256 = null, ...file } }, { tx, reads, adapters }) {
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
    projectScope: 'refused',
    params: byId,
    body: FailIn,
    status: 204,
    response: NoContent,
    audit: 'audit_export.failed',
    async handle({ params: { id }, body: { error } }, { tx }) {
      await tx((work) => failExport(work, id, error));
    },
  }),

  defineRoute({
    operationId: 'cleanUpAuditExports',
    method: 'post',
    path: '/api/audit/internal/exports/cleanup',
    group: GROUP,
    summary: "Delete the files of the tenant's expired exports",
    description: 'The service also does this every hour.',
    roles: ['application'],
    projectScope: 'refused',
    body: z.strictObject({}),
    status: 204,
    response: NoContent,
    audit: { none: 'each expired export is audited on its own' },
    async handle(_, { tx, adapters }) {
      await expireExports(tx, adapters.objects.store);
    },
  }),
];
