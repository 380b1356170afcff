import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { findCredentials } from '../../projects/integrations/integrations.mutations.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { type ReservedCall, reserveCall, settleCall } from './ai-calls.mutations.ts';
import { callsOfQuestion, LEASE_RENEWED_MS, renewLease } from './ai-calls.queries.ts';
import type { AskFailureKind, AskModel, ModelQuestion, ModelReply } from './ask-model.port.ts';
import { type ConfiguredModel, modelInRequest } from './configured-model.queries.ts';
import type { CallModel, ModelAccess, ModelAnswer } from './language-model.port.ts';
import type { ModelUsage } from '../../projects/integrations/model-provider-rules.ts';
import {
  addUsage,
  costOf,
  inputTokensAbout,
  inputTokensAtMost,
  NO_USAGE,
} from '../../projects/integrations/price-rules.ts';
import { CALLS_MAX, QUESTION_MAX_MS, waitBeforeRetry } from './retry-rules.ts';
import { maskSecrets } from './secret-pattern-rules.ts';

export interface AskModelParts {
  actingAs: (actor: Actor) => UnitOfWork;
  encryption: Encryption;
  callModel: CallModel;
  log: Logger;
}

/** See `AskModel`. */
export function createAskModel(parts: AskModelParts): AskModel {
  return async (question) => {
    const uow = parts.actingAs(question.actor);
    const total = { usage: NO_USAGE, cost: null as number | null, durationMs: 0, calls: 0 };
    const failed = (kind: AskFailureKind, message: string): ModelReply => ({ kind, message, ...total });
    const found = await uow((tx) => accessOf(tx, parts.encryption, question));
    if ('problem' in found) return failed('unconfigured', found.problem);
    const { configured, access } = found;
    const { provider } = configured.settings;
    const asked = masked(question);
    // An attempt whose process ended has made some of them.
    const earlier = await uow((tx) => callsOfQuestion(tx, question.taskExecutionId));
    const begunAt = earlier.startedAt === null ? Date.now() : Date.parse(earlier.startedAt);
    const isLate = (inMs: number) => Date.now() + inMs - begunAt > QUESTION_MAX_MS;
    if (earlier.calls >= CALLS_MAX || isLate(0)) return failed('unavailable', GIVEN_UP);
    for (;;) {
      if (question.signal.aborted) return failed('cancelled', CANCELLED);
      const call = await callOnce(parts, uow, configured, access, { ...question, ...asked });
      if ('refused' in call) return failed('budget_exceeded', call.refused);
      const { answer, usage, cost, durationMs } = call;
      total.usage = addUsage(total.usage, usage);
      if (cost !== null) total.cost = (total.cost ?? 0) + cost;
      total.durationMs += durationMs;
      total.calls++;
      if (answer.kind === 'ok') return { kind: 'ok', text: answer.text, provider, model: configured.model, ...total };
      const waitMs = waitBeforeRetry(answer, earlier.calls + total.calls, Math.random());
      if (waitMs === undefined || isLate(waitMs)) return failed(answer.kind, answer.message);
      if (!(await waited(waitMs, question.signal))) return failed('cancelled', CANCELLED);
    }
  };
}

const CANCELLED = 'The task was cancelled';
const GIVEN_UP = 'The model was asked several times, and each time the call was interrupted';

/** The model of the project with its credential, or why there is none. */
async function accessOf(
  tx: Tx,
  encryption: Encryption,
  { projectId, model, purpose }: ModelQuestion,
): Promise<{ configured: ConfiguredModel; access: ModelAccess } | { problem: string }> {
  let configured: ConfiguredModel;
  try {
    configured = await modelInRequest(tx, { projectId, model });
  } catch (error) {
    if (error instanceof DomainError) return { problem: error.message };
    throw error;
  }
  const integration = await findCredentials(tx, encryption, { kind: 'ai-model', projectId, purpose });
  if (integration?.credentials.type !== 'token')
    return { problem: `The integration ${configured.name} of kind ai-model has no token` };
  const { baseUrl, credentials } = integration;
  return { configured, access: { provider: configured.settings.provider, baseUrl, apiKey: credentials.token } };
}

const masked = ({ system, messages, schema }: ModelQuestion) => ({
  system: maskSecrets(system),
  messages: messages.map(({ role, text }) => ({ role, text: maskSecrets(text) })),
  schema,
});

/** Keeps what is reserved for a call while it runs. */
async function whileRenewing<T>(
  { log }: AskModelParts,
  uow: UnitOfWork,
  { id }: ReservedCall,
  call: () => Promise<T>,
): Promise<T> {
  const renew = () => void uow((tx) => renewLease(tx, id)).catch((err) => log.warn({ err }, 'lease of a call lost'));
  const timer = setInterval(renew, LEASE_RENEWED_MS);
  try {
    return await call();
  } finally {
    clearInterval(timer);
  }
}

/** The tokens of a call: as the provider counted them, else about as many as were sent and came. */
function usageOf(
  { kind, usage, inputUsage, receivedTokens }: ModelAnswer,
  inputTokens: number,
): { usage: ModelUsage; isEstimated: boolean } {
  if (usage) return { usage, isEstimated: false };
  const mayHaveBegun = receivedTokens !== null || inputUsage !== null || kind === 'timeout' || kind === 'cancelled';
  if (!mayHaveBegun) return { usage: NO_USAGE, isEstimated: false };
  return {
    usage: { ...NO_USAGE, input: inputTokens, ...inputUsage, output: receivedTokens ?? 0 },
    isEstimated: true,
  };
}

/** Whether nobody aborted meanwhile. */
async function waited(waitMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(waitMs, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/** Calls the model once: what the call may cost is reserved before, and settled with what it did cost. */
async function callOnce(
  parts: AskModelParts,
  uow: UnitOfWork,
  configured: ConfiguredModel,
  access: ModelAccess,
  question: ModelQuestion,
) {
  const asked = { system: question.system, messages: question.messages, schema: question.schema };
  const reserved = await uow((tx) =>
    reserveCall(tx, {
      configured,
      projectId: question.projectId,
      taskExecutionId: question.taskExecutionId,
      inputTokens: inputTokensAtMost(asked),
      maxOutputTokens: question.maxOutputTokens,
    }),
  );
  if (!reserved.isReserved) return { refused: reserved.reason };
  const startedAt = performance.now();
  const answer = await whileRenewing(parts, uow, reserved, () =>
    parts.callModel(access, {
      ...asked,
      model: configured.model,
      maxOutputTokens: reserved.maxOutputTokens,
      signal: question.signal,
      onProgress: question.onProgress,
    }),
  );
  const durationMs = Math.round(performance.now() - startedAt);
  const { usage, isEstimated } = usageOf(answer, inputTokensAbout(asked));
  const cost = costOf(usage, configured.settings);
  const error = answer.kind === 'ok' ? null : answer.message;
  await uow((tx) =>
    settleCall(tx, configured, reserved.month, {
      id: reserved.id,
      outcome: answer.kind,
      usage,
      isEstimated,
      cost,
      durationMs,
      error,
    }),
  );
  const { provider } = configured.settings;
  const { kind } = answer;
  parts.log.info({ provider, model: configured.model, outcome: kind, durationMs, usage, error }, 'model called');
  return { answer, usage, cost, durationMs };
}
