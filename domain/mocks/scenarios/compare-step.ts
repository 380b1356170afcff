import { parsedJson } from '../../kernel/json/json-rules.ts';
import { type ComparedAnswer, driftBetween } from '../drift/drift-rules.ts';
import { textOf } from '../serving/message-body.ts';
import type { DriftFinding } from '../mocks.entities.ts';
import type { Step, StepResponse } from './step-rules.ts';
import { type ScenarioUpstreams, upstreamOf } from '../serving/scenario-upstreams.ts';
import type { ForwardUpstream } from '../serving/upstream.port.ts';

/**
 * Asks the upstream for a GET step. Undefined where it answers as the step does: the same status, type and shape.
 * No credential is sent: what needs one answers 401, which is reported.
 */
export async function compareWithUpstream(
  forward: ForwardUpstream,
  upstreams: ScenarioUpstreams,
  { seq, request: { method, path, query = {} }, response }: Step,
  signal: AbortSignal,
): Promise<DriftFinding | undefined> {
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    ),
  ).toString();
  const target = `${path}${parameters === '' ? '' : `?${parameters}`}`;
  const finding = { seq, method, path };
  const asked = upstreamOf(upstreams, target);
  if (!asked) return { ...finding, changes: [], error: 'the scenario has no upstream for this path' };
  const outcome = await forward(
    { ...asked, method, headers: { accept: acceptOf(response) }, bytes: Buffer.alloc(0) },
    signal,
  );
  if ('failure' in outcome) return { ...finding, changes: [], error: outcome.failure.message };
  const { status, headers, bytes } = outcome.answer;
  const contentType = [headers['content-type'] ?? ''].flat()[0] ?? '';
  const is: ComparedAnswer = { status, contentType, json: jsonOf(textOf(bytes, contentType)) };
  const changes = driftBetween(answerOf(response), is);
  return changes.length === 0 ? undefined : { ...finding, changes, error: null };
}

const typeOf = ({ headers = {} }: StepResponse): string => [headers['content-type'] ?? ''].flat()[0] ?? '';
const acceptOf = (response: StepResponse): string => typeOf(response).split(';')[0] || '*/*';

function answerOf(response: StepResponse): ComparedAnswer {
  const { status, body, template } = response;
  const isJson = template !== true && body !== undefined && typeof body !== 'string';
  return {
    status,
    contentType: typeOf(response),
    json: isJson ? { value: body } : jsonOf(template ? undefined : body),
  };
}

const jsonOf = (text: unknown): { value: unknown } | undefined =>
  typeof text === 'string' && /^\s*[[{]/.test(text) ? parsedJson(text) : undefined;
