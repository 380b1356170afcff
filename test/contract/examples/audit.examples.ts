import { featureExamples } from './example.ts';

export const auditExamples = featureExamples(
  async (app) => {
    const { id } = await app.as(app.owner).post(202, '/api/audit/exports', {});
    const done = await app.as(app.owner).post(202, '/api/audit/exports', { source: 'project' });
    const key = `${app.tenant.id}/audit-exports/${done.id}.csv`;
    await app.objects.put(key, pieces('id\r\n'), 'text/csv');
    const file = { objectKey: key, fileName: 'audit.csv', rowCount: 0, fileSizeBytes: 4 };
    await app.as(app.application).post(204, `/api/audit/internal/exports/${done.id}/complete`, file);
    const openKey = `${app.tenant.id}/audit-exports/${id}.csv`;
    await app.objects.put(openKey, pieces('id\r\n'), 'text/csv');
    return { exportId: id as string, completedExportId: done.id as string, openKey };
  },
  {
    getAudit: () => ({ query: { source: 'project' } }),
    getAuditVerify: () => ({}),
    postAuditExports: ({ repositoryIdentifier }) => ({ body: { repositoryIdentifier, format: 'csv' } }),
    getAuditExportsId: ({ exportId: id }) => ({ params: { id } }),
    getAuditExportsIdDownload: ({ completedExportId: id }) => ({ params: { id } }),
    getAuditExportsIdDownloadUrl: ({ completedExportId: id }) => ({ params: { id } }),
    getAuditInternalExportsIdRows: ({ exportId: id }) => ({ params: { id } }),
    postAuditInternalExportsIdComplete: ({ exportId: id, openKey }) => ({
      params: { id },
      body: { objectKey: openKey, fileName: 'audit.csv', rowCount: 0, fileSizeBytes: 4 },
    }),
    postAuditInternalExportsIdFail: ({ exportId: id }) => ({ params: { id }, body: { error: 'the disk is full' } }),
    postAuditInternalExportsCleanup: () => ({ body: {} }),
  },
);

async function* pieces(text: string) {
  yield Buffer.from(text);
}
