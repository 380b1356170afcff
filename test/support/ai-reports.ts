import type { TestApp } from './app.ts';
import type { Bearer, Json } from './client.ts';

/** The calls of the reports of one project. */
export interface ReportedProject {
  id: string;
  repositoryIdentifier: string;
  publish: (more?: object, status?: number, as?: Bearer) => Promise<Json>;
  /** @param path behind `/api/ai-reports`. */
  get: (path: string, query?: Record<string, string>, status?: number, as?: Bearer) => Promise<Json>;
}

export const onRepository = { scope: 'repository', scopeName: 'repository' };

let made = 0;

export async function reportedProject(app: TestApp, more: object = {}): Promise<ReportedProject> {
  const repositoryIdentifier = `acme/reported-${++made}`;
  const { id } = await app
    .as(app.owner)
    .post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', ...more });
  return reportsOf(app, { id, repositoryIdentifier });
}

/** The calls of reports of a project that exists. */
export const reportsOf = (
  app: TestApp,
  { id, repositoryIdentifier }: { id: string; repositoryIdentifier: string },
): ReportedProject => ({
  id,
  repositoryIdentifier,
  publish: (report = {}, status = 204, as = app.application) =>
    app.as(as).post(status, '/api/ai-reports/results', {
      repositoryIdentifier,
      ...onRepository,
      commitSha: 'a'.repeat(40),
      analyzedAt: '2026-03-02T09:30:00.000Z',
      status: 'completed',
      markdownReport: '# Report',
      ...report,
    }),
  get: (path, query = {}, status = 200, as = app.member) =>
    app.as(as).get(status, `/api/ai-reports${path}?${new URLSearchParams({ repositoryIdentifier, ...query })}`),
});
