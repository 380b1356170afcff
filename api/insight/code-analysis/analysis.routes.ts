import { Readable } from 'node:stream';
import { requestAnalysis } from '../../../domain/insight/code-analysis/jobs/analysis-jobs.mutations.ts';
import { findAnalysis } from '../../../domain/insight/code-analysis/analyses.queries.ts';
import { logKey } from '../../../domain/insight/code-analysis/sarif/log-upload.ts';
import { fullCommitId } from '../../../domain/code/git/commits.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { RawReply } from '../../http/replies.ts';
import { AnalysisOut, AnalysisQuery, EnvelopeOut } from './code-analysis.schemas.ts';
import { PREFIX, shownAnalysis } from './shown-analysis.ts';

/** The JSON of an envelope whose analysis gets the log as its last member, without parsing it. */
async function* withLog(
  envelope: object,
  analysis: object,
  log: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const open = (members: object) => JSON.stringify(members).slice(0, -1);
  yield Buffer.from(`${open(envelope)},"data":${open(analysis)},"sarif":`);
  yield* log;
  yield Buffer.from('}}');
}

export const codeAnalysisRoutes = [
  defineRoute({
    operationId: 'getCodeAnalysis',
    method: 'get',
    path: PREFIX,
    group: 'Code analysis',
    summary: 'Show the analysis of a branch or commit, or have it analysed',
    description: `With results: \`available\`, with the SARIF log unless \`includeSarif=false\`; without \`commitId\` those of the newest analysis of the branch. Without: the commit, or the head of the branch, is analysed by a run of the flow \`analyze\`, and the branch every night at 03:00 UTC from then on; \`pending\` carries the run as \`jobId\`, also while one goes on that somebody else has started. \`error\`: the last run failed, or there is no such branch; it starts again after 15 minutes, or at once by \`POST ${PREFIX}/refresh\`.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: AnalysisQuery,
    status: 200,
    response: EnvelopeOut,
    errors: ['flow_unavailable'],
    audit: 'flow.run_requested',
    async handle({ query: { repositoryIdentifier, branch, commitId: given, includeSarif } }, scope) {
      const { reads, tx, adapters, actor, requestId } = scope;
      const project = await projectInRequest(reads, repositoryIdentifier);
      const commitId = given && (await fullCommitId(reads, project.id, given));
      const found = await findAnalysis(reads, { projectId: project.id, branch }, commitId);
      if (found) {
        const envelope = { status: 'available' as const, jobId: null, message: null };
        const data = shownAnalysis(scope, repositoryIdentifier, found);
        const log = includeSarif && (await adapters.objects.store.get(logKey(actor.tenantId, found.bodyId)));
        if (!log) return { ...envelope, data };
        const json = withLog(envelope, AnalysisOut.parse(data), log);
        return new RawReply('application/json', Readable.from(json, { objectMode: false }));
      }
      const { commands } = adapters.flows;
      const requested = await tx((work) =>
        requestAnalysis(work, project, { branch, commitId, isForced: false }, { requestId, commands }),
      );
      if ('run' in requested && requested.run) adapters.launch.startInBackground(flowRunContract, requested.run);
      const { status, jobId, message } = requested;
      return { status, jobId, message, data: null };
    },
  }),
];
