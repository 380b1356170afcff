import type { GitHost, PipelineJob } from '../../../domain/code/git-hosts/git-host.port.ts';
import { type CallHost, type HostJson, listOf, type ReadHostText, textOf } from './host-http.ts';

const NAME = 'host-a';

interface Parts {
  call: CallHost;
  readText: ReadHostText;
  headers: Record<string, string>;
  token: string;
  repo: (repository: string) => string;
  runOf: (repository: string, runId: string) => string;
}

/** GitHub's jobs of workflow runs, and their logs. */
export const createPipelineOutputA = ({
  call,
  readText,
  headers,
  token,
  repo,
  runOf,
}: Parts): Pick<GitHost, 'pipelineJobs' | 'pipelineLog'> => ({
  async pipelineJobs({ repository, runId }) {
    const url = `${runOf(repository, runId)}/jobs?filter=latest&per_page=100`;
    const answer = await call(NAME, { method: 'GET', url, headers });
    return answer.isOk ? { isOk: true, value: listOf(answer.value.jobs).map(jobOf) } : answer;
  },

  // Where its log lies says a redirect; while the job goes on, there is none.
  pipelineLog: ({ repository }, wanted) =>
    readText(
      NAME,
      {
        url: `${repo(repository)}/actions/jobs/${encodeURIComponent(wanted.logId)}/logs`,
        credentials: headers,
        secret: token,
      },
      wanted,
    ),
});

function jobOf({ id, name, status, conclusion, steps }: HostJson): PipelineJob {
  const hasEnded = status === 'completed';
  const step = listOf(steps).find((each) => each.status === 'in_progress');
  const state = textOf(hasEnded ? conclusion : status) ?? 'unknown';
  return {
    id: textOf(id) ?? '',
    name: textOf(name) ?? '',
    state: step && !hasEnded ? `${state}, ${textOf(step.name) ?? ''}` : state,
    hasEnded,
    logId: hasEnded && conclusion !== 'skipped' ? textOf(id) : null,
  };
}
