import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestApp } from './app.ts';
import type { Json } from './client.ts';
import { eventually } from './worker.ts';

/** Queues of the workers that deploy releases by runs. */
export const DEPLOYING_QUEUES = [
  'flows-v1',
  'commands-v1',
  'environment-locks-v1',
  'approvals-v1',
  'releases-v1',
  'system-v1',
];

export const repositoryIdentifier = 'acme/shop';
const domain = 'core';

/** Releases of one repository that are deployed by runs, whose command does what the payload's `act` says. */
export interface DeployingRuns {
  /** For `COMMANDS_FILE`. */
  commandsFile: string;
  /** The project, and environments `uat` and `prod` that nobody approves for. */
  prepare: (configuration?: object) => Promise<void>;
  /** A candidate of that name; posted again it has other packages. */
  cut: (releaseName: string, version?: string) => Promise<Json>;
  /** Starts a run; `act` is what the shell does, for which `$2` is the name of the release. */
  start: (payload: Record<string, unknown>) => Promise<string>;
  /** An `act` that goes on until `end` is called. */
  endless: () => { act: string; end: () => void };
  shown: (id: string) => Promise<Json>;
  /** Waits until a run has that raw status, and answers it. */
  reached: (id: string, rawStatus: string) => Promise<Json>;
  /** The deployments that were recorded of an execution, once each of them was applied. */
  deploymentsOf: (executionId: string) => Promise<Json[]>;
  statusOf: (releaseName: string) => Promise<string>;
  remove: () => void;
}

export function deployingRuns(app: () => TestApp): DeployingRuns {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-deploying-runs-'));
  const commandsFile = join(folder, 'commands.json');
  const shell = { program: '/bin/sh', args: ['-c', 'eval "$1"', 'sh', '{payload.act}', '{payload.releaseName}'] };
  writeFileSync(commandsFile, JSON.stringify({ 'execute-release': shell }));
  const owner = () => app().as(app().owner);
  const release = { repositoryIdentifier, domain };
  const shown = (id: string): Promise<Json> => owner().get(200, `/api/flows/runs/${id}`);
  let made = 0;
  return {
    commandsFile,
    endless() {
      const ended = join(folder, `ended-${++made}`);
      return { act: `until [ -e ${ended} ]; do sleep 0.1; done`, end: () => writeFileSync(ended, '') };
    },
    async prepare(configuration = {}) {
      await owner().post(201, '/api/projects', {
        identifier: repositoryIdentifier,
        platform: 'host-a',
        configuration: { approvalPolicy: { skipApproval: true }, ...configuration },
      });
      for (const [orchestrationOrder, name] of ['uat', 'prod'].entries())
        await owner().post(201, '/api/environments', {
          repositoryIdentifier,
          name,
          category: 'release',
          orchestrationOrder,
        });
    },
    cut: (releaseName, version = '1.0.0') =>
      owner().post(201, '/api/release-candidates', {
        ...release,
        releaseName,
        commitSha: 'a'.repeat(40),
        value: { artifacts: { app: version, lib: '2.0.0' } },
      }),
    start: async (payload) =>
      (
        await owner().post(202, '/api/flows/run', {
          payload: { id: 'execute-release', ...release, act: 'true', ...payload },
        })
      ).id,
    shown,
    reached: (id, rawStatus) =>
      eventually(
        () => shown(id),
        (run) => run.rawStatus === rawStatus,
      ),
    deploymentsOf: (executionId) =>
      eventually(
        () =>
          app().sql(
            `select d.*, e.name as environment from release_deployment d join environment e on e.id = d.environment_id
             where d.execution_id = ? order by e.name`,
            [executionId],
          ),
        (rows) => rows.every(({ applied_at: appliedAt }: Json) => appliedAt !== null),
      ),
    statusOf: async (releaseName) => {
      const [row] = await app().sql<{ status: string }>('select status from release_candidate where release_name = ?', [
        releaseName,
      ]);
      return row?.status ?? '';
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
