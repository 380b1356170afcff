import type { GitHost, PipelineJob } from '../../../domain/code/git-hosts/git-host.port.ts';
import { type CallHost, type HostJson, listOf, type ReadHostText, textOf } from './host-http.ts';

const NAME = 'host-b';
const VERSION = 'api-version=7.1';

interface Parts {
  call: CallHost;
  readText: ReadHostText;
  headers: Record<string, string>;
  token: string;
  buildsOf: (repository: string) => string;
}

/** Azure DevOps' timelines of builds, and their logs. */
export const createPipelineOutputB = ({
  call,
  readText,
  headers,
  token,
  buildsOf,
}: Parts): Pick<GitHost, 'pipelineJobs' | 'pipelineLog'> => ({
  // The timeline of a build has its stages, jobs and tasks; those of runs of pipelines have no interface of their own.
  async pipelineJobs({ repository, runId }) {
    const url = `${buildsOf(repository)}/${encodeURIComponent(runId)}/timeline?${VERSION}`;
    const answer = await call(NAME, { method: 'GET', url, headers });
    return answer.isOk ? { isOk: true, value: jobsOfTimeline(listOf(answer.value.records)) } : answer;
  },

  pipelineLog: ({ repository, runId }, wanted) =>
    readText(
      NAME,
      {
        url: `${buildsOf(repository)}/${encodeURIComponent(runId)}/logs/${encodeURIComponent(wanted.logId)}?${VERSION}`,
        credentials: headers,
        secret: token,
      },
      wanted,
    ),
});

const SHOWN = new Set(['Stage', 'Job', 'Task']);
const RECORDS_MAX = 100;

/** Records of a timeline as jobs: in the order in which they began. The log of a job is those of its tasks. */
function jobsOfTimeline(records: readonly HostJson[]): PipelineJob[] {
  const byId = new Map(records.map((record) => [textOf(record.id), record]));
  const nameOf = (record: HostJson): string => {
    const parent = byId.get(textOf(record.parentId));
    const own = textOf(record.name) ?? '';
    // The default stage and job of a pipeline that names none.
    const above = parent && record !== parent ? nameOf({ ...parent, parentId: null }) : '';
    return above === '' || above === own || above.startsWith('__') ? own : `${above} / ${own}`;
  };
  return records
    .filter(({ type }) => SHOWN.has(textOf(type) ?? ''))
    .toSorted((one, other) => beganAt(one).localeCompare(beganAt(other)) || Number(one.order) - Number(other.order))
    .slice(0, RECORDS_MAX)
    .map((record) => {
      const { id, type, state, result, log } = record;
      const hasEnded = state === 'completed';
      return {
        id: textOf(id) ?? '',
        name: nameOf(record),
        state: textOf(hasEnded ? result : state) ?? 'unknown',
        hasEnded,
        logId: type === 'Task' && typeof log === 'object' && log !== null && 'id' in log ? textOf(log.id) : null,
      };
    });
}

/** Records that have not begun come last. */
const beganAt = ({ startTime }: HostJson): string => textOf(startTime) ?? '~';
