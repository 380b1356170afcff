import type { GitHost, PipelineJob } from '../../../domain/code/git-hosts/git-host.port.ts';
import { type CallHost, type HostJson, listOf, type ReadHostText, textOf } from './host-http.ts';

const NAME = 'host-c';

interface Parts {
  call: CallHost;
  readText: ReadHostText;
  headers: Record<string, string>;
  token: string;
  project: (repository: string) => string;
  pipelineOf: (repository: string, runId: string) => string;
}

/** GitLab's jobs of pipelines, and their traces. */
export const createPipelineOutputC = ({
  call,
  readText,
  headers,
  token,
  project,
  pipelineOf,
}: Parts): Pick<GitHost, 'pipelineJobs' | 'pipelineLog'> => ({
  async pipelineJobs({ repository, runId }) {
    const url = `${pipelineOf(repository, runId)}/jobs?per_page=100`;
    const answer = await call(NAME, { method: 'GET', url, headers });
    if (!answer.isOk) return answer;
    const jobs = listOf(answer.value).toSorted((one, other) => Number(one.id) - Number(other.id));
    return { isOk: true, value: jobs.map(jobOf) };
  },

  pipelineLog: ({ repository }, wanted) =>
    readText(
      NAME,
      {
        url: `${project(repository)}/jobs/${encodeURIComponent(wanted.logId)}/trace`,
        credentials: headers,
        secret: token,
      },
      wanted,
    ),
});

const JOB_ENDED = new Set(['success', 'failed', 'canceled', 'skipped']);
/** States in which a job has a log, which may still grow. */
const JOB_LOGGED = new Set(['running', 'canceling', 'success', 'failed', 'canceled']);

function jobOf({ id, name, stage, status }: HostJson): PipelineJob {
  const state = textOf(status) ?? 'unknown';
  return {
    id: textOf(id) ?? '',
    name: [textOf(stage), textOf(name)].filter(Boolean).join(' / '),
    state,
    hasEnded: JOB_ENDED.has(state),
    logId: JOB_LOGGED.has(state) ? textOf(id) : null,
  };
}
