import { Readable } from 'node:stream';
import { REPLY_MAX_BYTES, withResult } from '../../../domain/insight/metrics/answer-rules.ts';
import { type MetricAnswer, tooLarge } from '../../../domain/insight/metrics/ask-metrics.ts';
import { isTrouble, type QueryErrorType, type QueryTrouble } from '../../../domain/insight/metrics/query-rules.ts';
import { DomainError, type ErrorCode } from '../../../domain/kernel/shared/errors.ts';
import { JsonText, RawReply, type Reply, reply } from '../../http/replies.ts';

/** As Prometheus' `web/api/v1/api.go` has them. */
const STATUS_OF: Record<QueryErrorType, number> = {
  bad_data: 400,
  not_found: 404,
  execution: 422,
  timeout: 503,
  unavailable: 503,
};
const CODE_OF: Record<QueryErrorType, ErrorCode> = {
  bad_data: 'invalid_request',
  not_found: 'not_found',
  execution: 'unprocessable',
  timeout: 'unavailable',
  unavailable: 'unavailable',
};

/** Answers up to this size are sent whole, and compressed. */
const WHOLE_MAX_BYTES = 1024 * 1024;

type PrometheusReply = Reply<RawReply | JsonText> | RawReply | JsonText;

const refusal = ({ errorType, error }: QueryTrouble): PrometheusReply =>
  reply(new JsonText(JSON.stringify({ status: 'error', errorType, error })), {
    status: STATUS_OF[errorType],
    ...(STATUS_OF[errorType] === 503 && { headers: { 'Retry-After': '5' } }),
  });

/** An answer as Prometheus gives it, errors included; a long one is sent as it comes. */
export async function prometheusReply(answer: MetricAnswer | QueryTrouble): Promise<PrometheusReply> {
  if (isTrouble(answer)) return refusal(answer);
  const chunks: Buffer[] = [];
  let size = 0;
  const source = answer.json[Symbol.asyncIterator]();
  for (;;) {
    const next = await source.next();
    if (next.done) return new JsonText(Buffer.concat(chunks));
    chunks.push(next.value);
    size += next.value.length;
    if (size > WHOLE_MAX_BYTES) break;
  }
  const rest = async function* () {
    yield* chunks;
    yield* { [Symbol.asyncIterator]: () => source };
  };
  return new RawReply('application/json', Readable.from(rest(), { objectMode: false }));
}

/** The longest answer of the store to which there is a reply with `result` on top, which has most of it twice. */
export const RESULT_ANSWER_MAX_BYTES = REPLY_MAX_BYTES / 2;

/** An answer with `result` on top, beside Prometheus' own form; errors are thrown as `DomainError`. */
export async function resultReply(answer: MetricAnswer | QueryTrouble): Promise<RawReply | JsonText> {
  if (isTrouble(answer)) throw domainError(answer);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer.json) {
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    const trouble = tooLarge(error);
    throw trouble ? domainError(trouble) : error;
  }
  const parts = withResult(chunks);
  return size <= WHOLE_MAX_BYTES
    ? new JsonText(Buffer.concat([...parts]))
    : new RawReply('application/json', Readable.from(parts, { objectMode: false }));
}

function domainError({ errorType, error }: QueryTrouble): DomainError {
  const parameter = /^invalid parameter "([^"]+)": /.exec(error)?.[1];
  const fields = parameter === undefined ? {} : { fields: [{ detail: error, pointer: `#/query/${parameter}` }] };
  return new DomainError(CODE_OF[errorType], error, fields);
}
