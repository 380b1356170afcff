import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { type Actor, systemActor } from '../../kernel/shared/actor.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import { answerBody, isKeptHeader, requestCriterion, secretsOfBody } from '../serving/message-body.ts';
import type { MockRequest } from '../serving/mock-request.ts';
import { addRecordedStep, noteRecordedCall } from './recorded-steps.mutations.ts';
import type { RecordCall } from './recording.ts';
import {
  createStandIns,
  headerWithStandIns,
  isSecretName,
  secretsOfHeaders,
  type StandInOf,
  standInKey,
} from './secret-fields.ts';
import { literalPath } from '../scenarios/path-template-rules.ts';
import { STEP_MAX_BYTES, type Step } from '../scenarios/step-rules.ts';
import { upstreamOf } from '../serving/scenario-upstreams.ts';
import type { ForwardUpstream, UpstreamAnswer } from '../serving/upstream.port.ts';

interface RecordingParts {
  forward: ForwardUpstream;
  actingAs: (actor: Actor) => UnitOfWork;
  encryption: Encryption;
}

type RecordedStep = Omit<Step, 'seq'>;

/**
 * Records the requests to a scenario: each becomes its next step, with what its upstream answers. The client gets that
 * answer as it is; the step has stand-ins for secrets. Without an upstream the step has no answer yet, and the client
 * gets 501. An answer that is too large for a step is passed on without being recorded.
 */
export const createRecordCall =
  ({ forward, actingAs, encryption }: RecordingParts): RecordCall =>
  async (place, scenario, { called, received }, signal) => {
    const standInOf = createStandIns(standInKey(encryption, place.tenantId));
    const known = secretsOfRequest(called);
    const request = recordedRequest(called, standInOf, known);
    const write = actingAs(systemActor(place, 'mocks'));
    const keep = (response: Step['response']) =>
      write((tx) => addRecordedStep(tx, scenario.id, { request, response, times: 1 }, called));
    const passed = upstreamOf(scenario, called.target);
    if (!passed) {
      const step = await keep({ status: 501 });
      return { step, answer: notImplemented(step) };
    }
    const outcome = await forward(
      {
        upstream: passed.upstream,
        method: called.method,
        target: passed.target,
        headers: called.headers,
        bytes: received,
      },
      signal,
    );
    if ('failure' in outcome) {
      await write((tx) => noteRecordedCall(tx, scenario.id, called, null));
      const { kind, message } = outcome.failure;
      throw new DomainError(kind === 'timeout' ? 'upstream_timeout' : 'upstream_error', `The upstream: ${message}`);
    }
    const { answer } = outcome;
    return { step: await keep(recordedResponse(answer, standInOf, known)), answer };
  };

function notImplemented(step: number | undefined): UpstreamAnswer {
  const detail =
    step === undefined
      ? 'The scenario has no upstream, and no room for another step'
      : `The scenario has no upstream: the request is step ${step}, of which the response can be put`;
  const body = {
    type: 'urn:quayside:problem:not_implemented',
    title: 'Not implemented',
    status: 501,
    detail,
    code: 'not_implemented',
  };
  return {
    status: 501,
    headers: { 'content-type': 'application/problem+json' },
    bytes: Buffer.from(JSON.stringify(body)),
  };
}

const secretsOfRequest = ({ headers, bytes, query }: MockRequest): string[] => [
  ...secretsOfHeaders(Object.entries(headers)),
  ...secretsOfBody(bytes, headers['content-type'] ?? ''),
  ...Object.entries(query).flatMap(([name, value]) => (isSecretName(name) ? [value].flat() : [])),
];

/** What the request of a recorded step is compared by: not by credentials, which clients bring themselves. */
function recordedRequest(
  { method, target, query, headers, bytes }: MockRequest,
  standInOf: StandInOf,
  known: readonly string[],
): RecordedStep['request'] {
  const named = Object.entries(query).filter(([name]) => !isSecretName(name));
  const body = requestCriterion(bytes, headers['content-type'] ?? '', standInOf, known);
  const request = {
    method,
    path: literalPath(target.split('?', 1)[0] || '/'),
    ...(named.length > 0 && { query: Object.fromEntries(named) }),
  };
  const whole = { ...request, ...(body !== undefined && { body }) };
  return Buffer.byteLength(JSON.stringify(whole)) > STEP_MAX_BYTES ? request : whole;
}

function recordedResponse(
  { status, headers, bytes }: UpstreamAnswer,
  standInOf: StandInOf,
  known: readonly string[],
): RecordedStep['response'] {
  const type = [headers['content-type'] ?? ''].flat()[0] ?? '';
  const isPacked = headers['content-encoding'] !== undefined;
  const kept = Object.entries(headers).filter(
    ([name]) => isKeptHeader(name) || (isPacked && name === 'content-encoding'),
  );
  return {
    status,
    headers: Object.fromEntries(
      kept.map(([name, value]) => [
        name,
        typeof value === 'string'
          ? headerWithStandIns(name, value, standInOf)
          : value.map((one) => headerWithStandIns(name, one, standInOf)),
      ]),
    ),
    // What could not be unpacked is replayed as it came.
    ...(isPacked ? { bodyBase64: bytes.toString('base64') } : answerBody(bytes, type, standInOf, known)),
  };
}
