import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setWorkflowOptions,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { AiReportActivities } from '../../../activities/insight/ai-reports/ai-reports.activities.ts';
import { MODEL_CALL, REPORT_STEP, UNTIL_DONE } from '../../activity-options.ts';
import { endsOnItsBuild } from '../../versioning.ts';
import type { AiReportInput } from './ai-report.contract.ts';

const { askForFindings } = proxyActivities<AiReportActivities>(MODEL_CALL);
const { failGeneratedReport } = proxyActivities<AiReportActivities>(UNTIL_DONE);

const steps = proxyLocalActivities<AiReportActivities>(REPORT_STEP);

setWorkflowOptions(endsOnItsBuild, aiReport);

/** Makes a report: gathers facts, asks a model for findings, checks these, and publishes both. */
export async function aiReport(input: AiReportInput): Promise<void> {
  try {
    const begun = await steps.gatherReportFacts(input);
    if (!begun) return;
    upsertSearchAttributes({ Repository: [begun.repositoryIdentifier] });
    const subject = `${begun.repositoryIdentifier}, branch ${begun.branch}: ${begun.scope} ${begun.scopeName}`;
    const show = (state: string) => setCurrentDetails(`${subject}\n\n${begun.factCount} facts\n\n${state}`);
    show(begun.model === null ? 'Without a model' : `Model ${begun.model}`);
    if (begun.model !== null) await assess(input, (tokens) => show(`Model ${begun.model}: ${tokens} tokens`));
    await steps.publishGeneratedReport(input);
  } catch (error) {
    await CancellationScope.nonCancellable(() => failGeneratedReport({ ...input, error: reasonOf(error) }));
    throw error;
  }
}

/** Stores findings that can be used; the model may correct its answer once. */
async function assess(input: AiReportInput, show: (tokens: number) => void): Promise<void> {
  let tokens = 0;
  for (const isRepair of [false, true]) {
    const asked = await askForFindings({ ...input, isRepair });
    tokens += asked.tokens;
    show(tokens);
    if (asked.failure) throw ApplicationFailure.nonRetryable(asked.failure.message, asked.failure.kind);
    if (await steps.checkFindings(input)) return;
  }
  throw ApplicationFailure.nonRetryable(
    'The model answered twice without the JSON that it was asked for',
    'invalid_answer',
  );
}

function reasonOf(error: unknown): string {
  if (isCancellation(error)) return 'cancelled: The generation was cancelled';
  if (error instanceof ApplicationFailure && error.type) return `${error.type}: ${error.message}`;
  return 'interrupted: The generation could not be executed';
}
