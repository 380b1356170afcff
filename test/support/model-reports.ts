import type { ModelSimulator } from '../simulators/models/simulator.ts';
import { onRepository, type ReportedProject } from './ai-reports.ts';
import type { TestApp } from './app.ts';
import type { Bearer, Json } from './client.ts';
import { eventually } from './worker.ts';

/** An integration of kind ai-model with the simulator, for the tenant. */
export const useModel = (app: TestApp, models: ModelSimulator, settings: object = {}): Promise<Json> =>
  app.as(app.owner).post(201, '/api/integrations', {
    kind: 'ai-model',
    name: 'Simulated model',
    baseUrl: models.baseUrlOf('openai'),
    settings: { provider: 'openai', model: 'm-1', models: 'm-2', inputPrice: 1, outputPrice: 10, ...settings },
    credentials: { type: 'token', token: models.apiKey },
  });

export const refresh = (
  app: TestApp,
  { repositoryIdentifier }: ReportedProject,
  query: object = {},
  status = 202,
  as: Bearer = app.member,
): Promise<Json> =>
  app
    .as(as)
    .post(
      status,
      `/api/ai-reports/refresh?${new URLSearchParams({ repositoryIdentifier, ...onRepository, ...(query as Record<string, string>) })}`,
    );

/** The state of the reports on the whole repository once nothing is being generated. */
export const settled = (project: ReportedProject): Promise<Json> =>
  eventually(
    () => project.get('/status', onRepository),
    ({ status }: Json) => status !== 'generating',
  );
