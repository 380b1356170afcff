import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConsoleStage, consoleStage } from './console.ts';
import { insertRun } from './factories.ts';
import { eventually, startWorker } from './worker.ts';

export interface RunsStage extends ConsoleStage {
  repositoryIdentifier: string;
  /** Starts an analysis: it prints, and goes on to print and fail once it may. */
  analyze: () => Promise<string>;
  /** Whether analyses go on, from now. */
  letGo: (isLetGo: boolean) => void;
  isAt: (id: string, rawStatus: string) => Promise<unknown>;
}

/** The console with a program that can be held while it runs, and three past runs of its type, of 4, 5 and 6 minutes. */
export async function runsStage(): Promise<RunsStage> {
  const repositoryIdentifier = 'acme/running';
  const folder = mkdtempSync(join(tmpdir(), 'quayside-runs-'));
  const go = join(folder, 'go');
  const script = `echo 'looking <b>at</b> 42 classes'; i=0; while [ ! -e ${go} ]; do i=$((i+1)); echo "class $i"; sleep 0.3; done; echo 'Invoice.cls:12 unused' >&2; exit 3`;
  const commands = { analyze: { program: '/bin/sh', args: ['-c', script] } };
  writeFileSync(join(folder, 'commands.json'), JSON.stringify(commands));
  const stage = await consoleStage({ env: { COMMANDS_FILE: join(folder, 'commands.json') } });
  const { app } = stage;
  const worker = await startWorker(app, ['flows-v1', 'commands-v1', 'approvals-v1', 'environment-locks-v1']);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const began = Date.now() - 3_600_000;
  for (const minutes of [4, 5, 6])
    await insertRun(app, {
      repositoryIdentifier,
      requestedBy: app.member.email,
      category: 'testing',
      taskType: 'analyze',
      status: 'succeeded',
      displayStatus: 'Completed',
      startedAt: new Date(began),
      endedAt: new Date(began + minutes * 60_000),
    });
  return {
    ...stage,
    repositoryIdentifier,
    async analyze() {
      const payload = { id: 'analyze', repositoryIdentifier };
      const { id } = await owner.post(202, '/api/flows/run', { payload });
      return id;
    },
    letGo: (isLetGo) => (isLetGo ? writeFileSync(go, '') : rmSync(go, { force: true })),
    isAt: (id, rawStatus) =>
      eventually(
        () => owner.get(200, `/api/flows/runs/${id}`),
        (run) => run.rawStatus === rawStatus,
      ),
    async close() {
      await worker.stop();
      await stage.close();
      rmSync(folder, { recursive: true });
    },
  };
}
