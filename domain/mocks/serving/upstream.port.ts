/** A request to be passed on to the host that a scenario stands for. */
export interface UpstreamRequest {
  /** Its address; the target follows its path. */
  upstream: string;
  method: string;
  /** Path and query behind the key of the workspace, percent-encoded. */
  target: string;
  /** By names in lower case, without those of the connection and the service's own cookies. */
  headers: Record<string, string>;
  /** The body as it came, still packed where `content-encoding` says so. */
  bytes: Buffer;
}

export interface UpstreamAnswer {
  status: number;
  /** By names in lower case, without those of the connection. */
  headers: Record<string, string | string[]>;
  /** Unpacked; still packed where `content-encoding` is among the headers: its compression is broken or unknown. */
  bytes: Buffer;
}

/** Why there is no answer; the message is for the client under test. */
export interface UpstreamFailure {
  kind: 'refused' | 'timeout' | 'failed';
  message: string;
}

/**
 * Passes a request on, to permitted addresses only, bounded in time and size, following no redirect. Failures are values.
 */
export type ForwardUpstream = (
  request: UpstreamRequest,
  signal: AbortSignal,
) => Promise<{ answer: UpstreamAnswer } | { failure: UpstreamFailure }>;

/** Counts the mock servers that a request was passed on by. */
export const HOPS_HEADER = 'x-quayside-mock-hops';

/** A request that was passed on so often goes round, by whichever services. */
export const HOPS_MAX = 3;

/** Names the services whose mock servers passed a request on, separated by commas, by their `serviceId`. */
export const PASSED_BY_HEADER = 'x-quayside-mock-passed-by';

/** The services that passed a request on. */
export const passedBy = (headers: Readonly<Record<string, string>>): string[] =>
  (headers[PASSED_BY_HEADER] ?? '').split(',').flatMap((id) => id.trim() || []);

export const hopsOf = (headers: Readonly<Record<string, string>>): number =>
  Number.parseInt(headers[HOPS_HEADER] ?? '0', 10) || 0;
