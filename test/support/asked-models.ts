import { randomUUID } from 'node:crypto';
import type { WorkerBackend } from '../../activities/backend.ts';
import type { ModelQuestion } from '../../domain/insight/language-models/ask-model.port.ts';
import { systemActor } from '../../domain/kernel/shared/actor.ts';
import { type ModelSimulator, modelSimulator } from '../simulators/models/simulator.ts';
import { activityDeps } from './activities.ts';
import { type TestApp, testApp } from './app.ts';

/** Questions to a simulated model, as activities ask them. */
export interface AskedModels {
  app: TestApp;
  worker: WorkerBackend;
  simulator: ModelSimulator;
  /** A project with a model of its own. */
  project: (settings?: object, credentials?: object) => Promise<AskingProject>;
  ask: (projectId: string, question?: Partial<ModelQuestion>) => ReturnType<WorkerBackend['deps']['askModel']>;
  close: () => Promise<void>;
}

interface AskingProject {
  id: string;
  identifier: string;
  integrationId: string;
  /** Its calls, the oldest first. */
  rows: () => Promise<Record<string, unknown>[]>;
}

export async function askedModels(): Promise<AskedModels> {
  const simulator = await modelSimulator();
  const app = await testApp();
  const worker = activityDeps(app);
  let projects = 0;
  return {
    app,
    worker,
    simulator,
    async project(settings = {}, credentials = { type: 'token', token: simulator.apiKey }) {
      const identifier = `acme/models-${++projects}`;
      const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' });
      const integration = await app.as(app.owner).post(201, '/api/integrations', {
        kind: 'ai-model',
        name: 'Model',
        repositoryIdentifier: identifier,
        baseUrl: simulator.baseUrlOf('openai'),
        settings: { provider: 'openai', model: 'gpt', ...settings },
        credentials,
      });
      const rows = () => app.sql('select * from ai_call where project_id = ? order by started_at, id', [id]);
      return { id, identifier, integrationId: integration.id, rows };
    },
    ask: (projectId, question = {}) =>
      worker.deps.askModel({
        actor: systemActor(app.tenantKey, 'ai-reports'),
        projectId,
        taskExecutionId: randomUUID(),
        purpose: 'a test',
        system: 'Write a report.',
        messages: [{ role: 'user', text: 'F1: three issues' }],
        schema: { name: 'report', schema: { type: 'object', properties: {} } },
        maxOutputTokens: 1_000,
        signal: new AbortController().signal,
        onProgress: () => undefined,
        ...question,
      }),
    async close() {
      await worker.close();
      await app.close();
      await simulator.close();
    },
  };
}
