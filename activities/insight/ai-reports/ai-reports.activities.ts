import { randomBytes } from 'node:crypto';
import { Context } from '@temporalio/activity';
import {
  beginReport,
  checkAnswer,
  completeReport,
  failReport,
  openReport,
  storeAnswer,
  titleOf,
} from '../../../domain/insight/ai-reports/generation.mutations.ts';
import { FINDINGS_SCHEMA, readFindings } from '../../../domain/insight/ai-reports/findings.ts';
import {
  factsMessage,
  instructions,
  OUTPUT_TOKENS_MAX,
  repairMessages,
  type ReportTitle,
} from '../../../domain/insight/ai-reports/prompt-rules.ts';
import { createCommitGraphCache } from '../../../domain/code/git/graph/commit-graph-cache.ts';
import type { AskFailureKind } from '../../../domain/insight/language-models/ask-model.port.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { AiReportInput } from '../../../workflows/insight/ai-reports/ai-report.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';

const author = (tenant: TenantKey) => systemActor(tenant, 'ai-report');

/** A generation as its workflow shows it. */
interface Begun extends ReportTitle {
  /** Null: facts alone. */
  model: string | null;
  factCount: number;
}

/** What a question to the model came to; its answer is in the row. */
interface Asked {
  /** Tokens of all calls for the report, input and output together. */
  tokens: number;
  failure: { kind: AskFailureKind | 'gone'; message: string } | null;
}

export const createAiReportActivities = (deps: Pick<Deps, 'actingAs' | 'askModel'>) => {
  const commitGraphs = createCommitGraphCache();
  const inTenant = (tenant: TenantKey) => deps.actingAs(author(tenant));
  return {
    /** Stores the facts of a report; undefined for one that has ended. */
    async gatherReportFacts({ reportId, ...tenant }: AiReportInput): Promise<Begun | undefined> {
      const begun = await inTenant(tenant)((tx) => beginReport(tx, commitGraphs, reportId));
      return begun && { ...begun.title, model: begun.model, factCount: begun.factCount };
    },

    /** Asks the model for findings, or for a correction of its answer, and stores what it answers. */
    async askForFindings({ reportId, isRepair, ...tenant }: AiReportInput & { isRepair: boolean }): Promise<Asked> {
      const question = await inTenant(tenant)((tx) => questionOf(tx, reportId, { isRepair }));
      if (!question) return { tokens: 0, failure: { kind: 'gone', message: 'The report has ended, or is gone' } };
      let outputTokens = 0;
      const reply = await withHeartbeat(
        (signal) =>
          deps.askModel({
            ...question,
            actor: author(tenant),
            taskExecutionId: reportId,
            schema: FINDINGS_SCHEMA,
            maxOutputTokens: OUTPUT_TOKENS_MAX,
            signal,
            onProgress(tokens) {
              outputTokens = tokens;
            },
          }),
        () => ({ outputTokens }),
      );
      const { input, output, cacheRead, cacheWrite } = reply.usage;
      const tokens = input + output + cacheRead + cacheWrite;
      // A cancellation ends the activity as one; a worker that stops lets another repeat it.
      if (reply.kind === 'cancelled') Context.current().cancellationSignal.throwIfAborted();
      if (reply.kind !== 'ok') return { tokens, failure: { kind: reply.kind, message: reply.message } };
      await inTenant(tenant)((tx) => storeAnswer(tx, reportId, reply.text));
      return { tokens, failure: null };
    },

    /** Whether the answer can be used; what it claims without a valid citation is dropped. */
    checkFindings: ({ reportId, ...tenant }: AiReportInput): Promise<boolean> =>
      inTenant(tenant)((tx) => checkAnswer(tx, reportId)),

    publishGeneratedReport: ({ reportId, ...tenant }: AiReportInput): Promise<void> =>
      inTenant(tenant)((tx) => completeReport(tx, reportId)),

    failGeneratedReport: ({ reportId, error, ...tenant }: AiReportInput & { error: string }): Promise<void> =>
      inTenant(tenant)((tx) => failReport(tx, reportId, error)),
  };
};
export type AiReportActivities = ReturnType<typeof createAiReportActivities>;

/** What the model is asked about a report; undefined for one that has ended. */
async function questionOf(tx: Parameters<typeof openReport>[0], reportId: string, { isRepair }: { isRepair: boolean }) {
  const found = await openReport(tx, reportId);
  const facts = found?.report.facts;
  if (!found || !facts) return undefined;
  const { report, project } = found;
  const boundary = randomBytes(16).toString('hex');
  const title = titleOf(project, report);
  const read = isRepair ? readFindings(report.answer ?? '') : undefined;
  const repair = read && 'problems' in read ? repairMessages(report.answer ?? '', read.problems) : [];
  return {
    projectId: project.id,
    purpose: `report on ${title.scope} ${title.scopeName} of ${title.repositoryIdentifier}`,
    model: report.model ?? undefined,
    system: instructions(boundary),
    messages: [factsMessage(title, facts, boundary), ...repair],
  };
}
