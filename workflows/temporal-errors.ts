import {
  isGrpcServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { DomainError, isErrorCode } from '../domain/kernel/shared/errors.ts';
import { EngineUnavailableError } from './launch.ts';

/** gRPC status codes, https://grpc.io/docs/guides/status-codes/ */
export const GRPC = {
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
} as const;

/** Whether an error of the client, or one of its causes, is an answer of one of these statuses. */
export function hasGrpcStatus(error: unknown, ...codes: number[]): boolean {
  for (let current = error; current instanceof Error; current = current.cause)
    if (isGrpcServiceError(current) && codes.includes(current.code)) return true;
  return false;
}

/** Whether the server itself did not answer: a workflow that does not answer an update may lack a worker. */
export const isEngineAway = (error: unknown): boolean =>
  !(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) &&
  hasGrpcStatus(error, GRPC.DEADLINE_EXCEEDED, GRPC.UNAVAILABLE);

/**
 * An engine that cannot be reached, or does not answer in time, becomes an `EngineUnavailableError`, and a refusal by
 * the workflow a `DomainError`. All else is a bug or a wrong installation, and stays what it is.
 */
export function launchError(error: unknown): unknown {
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    return isErrorCode(type) ? new DomainError(type, message) : error;
  }
  const isUnavailable = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isEngineAway(error);
  return isUnavailable ? new EngineUnavailableError('The workflow engine did not answer', { cause: error }) : error;
}
