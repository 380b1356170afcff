import { z } from 'zod';
import { exportFileName, noteRequested } from '../../domain/audit/export-moves.ts';
import { assertKnownRepository } from '../../domain/audit/audit-list.queries.ts';
import { type AuditExport, exportById, insertExport } from '../../domain/audit/exports.queries.ts';
import { LINK_SECONDS } from '../../domain/objects/download-links.ts';
import { CSV_TYPE } from '../../domain/shared/csv-rules.ts';
import { DomainError, notFound } from '../../domain/shared/errors.ts';
import { auditExport } from '../../workflows/audit/audit-export.contract.ts';
import { defineRoute } from '../http/define-route.ts';
import { Id } from '../http/parameters.ts';
import { fileReply, RawReply } from '../http/replies.ts';
import { DownloadUrl, ExportIn, ExportOut } from './audit.schemas.ts';

const params = z.object({ id: Id });

const shown = (found: AuditExport): z.input<typeof ExportOut> => ({ ...found, format: 'csv' });

/** The file of an export that can be fetched. Throws `not_found` for one whose time is over, `in_progress` for one without a file yet. */
function fileOf(found: AuditExport): { key: string; fileName: string } {
  if (found.status === 'expired') throw notFound('The file of this export');
  if (found.status === 'failed') throw new DomainError('invalid_transition', `The export failed: ${found.error}`);
  if (found.objectKey === null)
    throw new DomainError('in_progress', `The export is ${found.status}: its file is not complete`);
  return { key: found.objectKey, fileName: found.fileName ?? exportFileName(found) };
}

export const auditExportsRoutes = [
  defineRoute({
    method: 'post',
    path: '/api/audit/exports',
    group: 'Audit',
    summary: 'Ask for the entries of a filter as a CSV file',
    description:
      'The file holds what the trail holds at this moment, in its order. A workflow writes it; `audit_export.completed` tells when it is there. Approvals have a report of their own.',
    roles: ['owner'],
    body: ExportIn,
    status: 202,
    response: ExportOut,
    audit: 'audit_export.requested',
    async handle({ body: { format: _, from, to, ...filters } }, { tx, reads, actor, adapters }) {
      await assertKnownRepository(reads, filters.repositoryIdentifier);
      const wanted = {
        ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)),
        ...(from && { from: from.toISOString() }),
        ...(to && { to: to.toISOString() }),
      };
      const made = await tx(async (work) => {
        const inserted = await insertExport(work, wanted);
        noteRequested(work, inserted);
        return inserted;
      });
      adapters.launch.begin(auditExport, { tenantId: actor.tenantId, exportId: made.id });
      return shown(made);
    },
  }),

  defineRoute({
    method: 'get',
    path: '/api/audit/exports/{id}',
    group: 'Audit',
    summary: 'Read how far an export is',
    roles: ['owner'],
    params,
    status: 200,
    response: ExportOut,
    handle: async ({ params: { id } }, { reads }) => shown(await exportById(reads, id)),
  }),

  defineRoute({
    method: 'get',
    path: '/api/audit/exports/{id}/download',
    group: 'Audit',
    summary: 'Fetch the file of a completed export',
    roles: ['owner'],
    params,
    status: 200,
    response: z.instanceof(RawReply),
    contentType: 'text/csv',
    errors: ['in_progress', 'invalid_transition'],
    async handle({ params: { id } }, { reads, adapters }) {
      const { key, fileName } = fileOf(await exportById(reads, id));
      return fileReply(CSV_TYPE, await adapters.objects.store.get(key), fileName);
    },
  }),

  defineRoute({
    method: 'get',
    path: '/api/audit/exports/{id}/download-url',
    group: 'Audit',
    summary: `A link to the file of a completed export, which works for ${LINK_SECONDS / 60} minutes without a credential`,
    roles: ['owner'],
    params,
    status: 200,
    response: DownloadUrl,
    errors: ['in_progress', 'invalid_transition'],
    async handle({ params: { id } }, { reads, adapters, publicUrl, now }) {
      const file = fileOf(await exportById(reads, id));
      const token = await adapters.objects.downloads.sign({ ...file, contentType: CSV_TYPE }, now());
      return {
        url: `${publicUrl}/api/downloads?token=${token}`,
        expiresAt: new Date(now().getTime() + LINK_SECONDS * 1_000),
      };
    },
  }),
];
