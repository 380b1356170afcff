import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestApp } from './app.ts';
import type { Json } from './client.ts';
import { cutRelease } from './releases.ts';
import { eventually } from './worker.ts';

/** Runs of one repository whose programs leave traces, so that a test can tell how often each ran. */
export interface TracedRuns {
  repositoryIdentifier: string;
  /** For `COMMANDS_FILE`. */
  commandsFile: string;
  /** Starts a run with a note of its own, which its program leaves behind. */
  start: (payload: object) => Promise<{ id: string; note: string }>;
  shown: (id: string) => Promise<Json>;
  /** Waits until a run has that raw status, and answers it. */
  reached: (id: string, rawStatus: string) => Promise<Json>;
  /** How often the program of a note ran. */
  ran: (note: string) => number;
  remove: () => void;
}

/** @param scripts what the shell does after it left its trace, by type of flow. */
export function tracedRuns(app: () => TestApp, scripts: Record<string, string>): TracedRuns {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-traced-runs-'));
  const traces = join(folder, 'ran');
  const commandsFile = join(folder, 'commands.json');
  const repositoryIdentifier = 'acme/shop';
  const command = (script: string) => ({
    program: '/bin/sh',
    args: ['-c', `echo "$1" >> ${traces}; ${script}`, 'sh', '{payload.note}'],
  });
  writeFileSync(traces, '');
  writeFileSync(
    commandsFile,
    JSON.stringify(Object.fromEntries(Object.entries(scripts).map(([type, script]) => [type, command(script)]))),
  );
  const owner = () => app().as(app().owner);
  const shown = (id: string): Promise<Json> => owner().get(200, `/api/flows/runs/${id}`);
  let notes = 0;
  return {
    repositoryIdentifier,
    commandsFile,
    async start(payload) {
      const note = `note-${++notes}`;
      const { domain = 'core', releaseName = note, id } = payload as Record<string, string>;
      if (id === 'execute-release' || id === 'request-release')
        await cutRelease(app(), repositoryIdentifier, releaseName, { domain });
      const common = { repositoryIdentifier, domain: 'core', releaseName: note, note };
      return { id: (await owner().post(202, '/api/flows/run', { payload: { ...common, ...payload } })).id, note };
    },
    shown,
    reached: (id, rawStatus) =>
      eventually(
        () => shown(id),
        (run) => run.rawStatus === rawStatus,
      ),
    ran: (note) =>
      readFileSync(traces, 'utf8')
        .split('\n')
        .filter((line) => line === note).length,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
