import { z } from 'zod';
import { fileToFetch } from '../../../domain/kernel/audit/export-rules.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { requestExport } from '../../../domain/kernel/audit/exports.mutations.ts';
import { type AuditExport, exportById, listExports } from '../../../domain/kernel/audit/exports.queries.ts';
import { LINK_SECONDS } from '../../../domain/kernel/objects/download-links.ts';
import { CSV_TYPE } from '../../../domain/kernel/text/csv-rules.ts';
import { auditExportContract } from '../../../workflows/kernel/audit/audit-export.contract.ts';
import { defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { fileReply, pageReply, RawReply } from '../../http/replies.ts';
import { DownloadUrl, ExportIn, ExportOut, ExportPage, ExportsQuery } from './audit.schemas.ts';

const shown = (found: AuditExport): z.input<typeof ExportOut> => ({ ...found, format: 'csv' });

export const auditExportsRoutes = [
  defineRoute({
    operationId: 'createAuditExport',
    method: 'post',
    path: '/api/audit/exports',
    group: 'Audit',
    summary: 'Export audit entries as a CSV file',
    description:
      'The file contains the entries that match the filters at the time of the request, in the order of the trail. It is written in the background; `audit_export.completed` is sent when it is complete. For approvals, see `GET /api/flows/approvals/compliance`.',
    roles: ['owner'],
    projectScope: 'refused',
    body: ExportIn,
    status: 202,
    response: ExportOut,
    audit: 'audit_export.requested',
    async handle({ body: { format: _, ...filter } }, { tx, actor, adapters }) {
      const made = await tx((work) => requestExport(work, filter));
      adapters.launch.startInBackground(auditExportContract, { ...tenantOf(actor), exportId: made.id });
      return shown(made);
    },
  }),

  defineRoute({
    operationId: 'listAuditExports',
    method: 'get',
    path: '/api/audit/exports',
    group: 'Audit',
    summary: 'List exports, newest first',
    roles: ['owner'],
    projectScope: 'refused',
    query: ExportsQuery,
    status: 200,
    response: ExportPage,
    async handle({ query }, { reads, requestUrl }) {
      const { items, total } = await listExports(reads, query);
      return pageReply(requestUrl, { ...query, total }, { items: items.map(shown), total, ...query });
    },
  }),

  defineRoute({
    operationId: 'getAuditExport',
    method: 'get',
    path: '/api/audit/exports/{id}',
    group: 'Audit',
    summary: 'Get the status of an export',
    roles: ['owner'],
    projectScope: 'refused',
    params: byId,
    status: 200,
    response: ExportOut,
    handle: async ({ params: { id } }, { reads }) => shown(await exportById(reads, id)),
  }),

  defineRoute({
    operationId: 'downloadAuditExport',
    method: 'get',
    path: '/api/audit/exports/{id}/download',
    group: 'Audit',
    summary: 'Download the file of a completed export',
    roles: ['owner'],
    projectScope: 'refused',
    params: byId,
    status: 200,
    response: z.instanceof(RawReply),
    contentTypes: ['text/csv'],
    errors: ['in_progress', 'invalid_transition'],
    async handle({ params: { id } }, { reads, adapters }) {
      const { key, fileName } = fileToFetch(await exportById(reads, id));
      return fileReply(CSV_TYPE, await adapters.objects.store.get(key), fileName);
    },
  }),

  defineRoute({
    operationId: 'getAuditExportUrl',
    method: 'get',
    path: '/api/audit/exports/{id}/download-url',
    group: 'Audit',
    summary: `Get a download link for a completed export, valid for ${LINK_SECONDS / 60} minutes without a credential`,
    roles: ['owner'],
    projectScope: 'refused',
    params: byId,
    status: 200,
    response: DownloadUrl,
    errors: ['in_progress', 'invalid_transition'],
    async handle({ params: { id } }, { reads, adapters, publicUrl, now }) {
      const file = fileToFetch(await exportById(reads, id));
      const token = await adapters.objects.downloads.sign({ ...file, contentType: CSV_TYPE }, now());
      return {
        url: `${publicUrl}/api/downloads?token=${token}`,
        expiresAt: new Date(now().getTime() + LINK_SECONDS * 1_000),
      };
    },
  }),
];
