import type { MockPlace } from '../decide-batch.ts';
import type { MockRequest } from '../serving/mock-request.ts';
import type { ActiveScenario } from '../serving/replay.queries.ts';
import type { UpstreamAnswer } from '../serving/upstream.port.ts';

export interface RecordedCall {
  called: MockRequest;
  /** The body as it came, still packed. */
  received: Buffer;
}

/**
 * Answers a request to a scenario that records, and keeps both as a step. Throws `upstream_error` and
 * `upstream_timeout`.
 */
export type RecordCall = (
  place: MockPlace,
  scenario: ActiveScenario,
  call: RecordedCall,
  signal: AbortSignal,
) => Promise<{ step: number | undefined; answer: UpstreamAnswer }>;
