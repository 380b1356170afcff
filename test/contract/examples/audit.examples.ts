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
    const link = await app.as(app.owner).get(200, `/api/audit/exports/${done.id}/download-url`);
    const downloadToken = new URL(link.url).searchParams.get('token') ?? '';
    return { exportId: id as string, completedExportId: done.id as string, openKey, downloadToken };
  },
  {
    listAuditEntries: () => ({ query: { source: 'project' } }),
    verifyAuditTrail: () => ({}),
    createAuditExport: ({ repositoryIdentifier }) => ({ body: { repositoryIdentifier, format: 'csv' } }),
    listAuditExports: () => ({}),
    getAuditExport: ({ exportId: id }) => ({ params: { id } }),
    downloadAuditExport: ({ completedExportId: id }) => ({ params: { id } }),
    getAuditExportUrl: ({ completedExportId: id }) => ({ params: { id } }),
    downloadFile: ({ downloadToken: token }) => ({ query: { token } }),
    listAuditExportRows: ({ exportId: id }) => ({ params: { id } }),
    completeAuditExport: ({ exportId: id, openKey }) => ({
      params: { id },
      body: { objectKey: openKey, fileName: 'audit.csv', rowCount: 0, fileSizeBytes: 4 },
    }),
    failAuditExport: ({ exportId: id }) => ({ params: { id }, body: { error: 'the disk is full' } }),
    cleanUpAuditExports: () => ({ body: {} }),
  },
);

async function* pieces(text: string) {
  yield Buffer.from(text);
}
