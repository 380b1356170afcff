import type { Fault } from './faults.ts';

export interface SimulatedRequest {
  method: string;
  /** Without query. */
  path: string;
  query: URLSearchParams;
  body: string;
  /** The body as it came; the text of a form is left out. */
  bytes: Buffer;
  contentType: string;
  /** Token of the Authorization header; empty without one. */
  bearer: string;
  /** What the Metadata interface is to do instead of answering as it should. */
  fault: Fault | undefined;
}

export interface Reply {
  status: number;
  contentType: string;
  body: string | Buffer;
}

export const json = (status: number, value: unknown): Reply => ({
  status,
  contentType: 'application/json;charset=UTF-8',
  body: JSON.stringify(value),
});

export const restError = (status: number, errorCode: string, message: string): Reply =>
  json(status, [{ errorCode, message }]);
