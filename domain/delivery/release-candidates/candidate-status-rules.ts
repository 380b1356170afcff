import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';

export const CANDIDATE_STATUSES = ['pending', 'in_progress', 'aborted', 'finalized'] as const;
export type BuiltInStatus = (typeof CANDIDATE_STATUSES)[number];
/** One of the four, or one that the project lists in `customReleaseStatuses`. */
export type CandidateStatus = string;

export const NEW_CANDIDATE: BuiltInStatus = 'pending';
export const ABORTED: BuiltInStatus = 'aborted';
export const FINALIZED: BuiltInStatus = 'finalized';

interface StatusTraits {
  /** Content and status never change again. */
  isFinal: boolean;
  /** What a successful deployment makes of it, as long as the candidate is not final. */
  afterSuccess: BuiltInStatus | undefined;
}

/** The whole state machine: open statuses reach each other and the final ones; final ones reach nothing. */
const TRAITS: Record<BuiltInStatus, StatusTraits> = {
  pending: { isFinal: false, afterSuccess: 'in_progress' },
  in_progress: { isFinal: false, afterSuccess: undefined },
  aborted: { isFinal: true, afterSuccess: undefined },
  finalized: { isFinal: true, afterSuccess: undefined },
};
/** A project's own status is open. */
const CUSTOM: StatusTraits = { isFinal: false, afterSuccess: undefined };

const isBuiltIn = (status: string): status is BuiltInStatus => Object.hasOwn(TRAITS, status);

const traitsOf = (status: CandidateStatus): StatusTraits => (isBuiltIn(status) ? TRAITS[status] : CUSTOM);

/** Statuses whose candidates never change again. */
export const FINAL_STATUSES: readonly BuiltInStatus[] = CANDIDATE_STATUSES.filter((status) => TRAITS[status].isFinal);

export const isFinal = (status: CandidateStatus): boolean => traitsOf(status).isFinal;

export const statusAfterSuccess = (status: CandidateStatus): CandidateStatus => traitsOf(status).afterSuccess ?? status;

export const isKnownStatus = (status: string, customStatuses: readonly string[] = []): boolean =>
  isBuiltIn(status) || customStatuses.includes(status);

/** The refusal of a status that the project does not know. */
export function unknownStatus(status: string, customStatuses: readonly string[] = []): DomainError {
  const known = [...CANDIDATE_STATUSES, ...customStatuses];
  return invalidField(
    'status',
    `${status} is not a status of this project: ${known.join(', ')}${didYouMean(status, known)}`,
  );
}

/**
 * Whether a candidate moves: false when it has the status already. Throws `invalid_request` for a status that the
 * project does not know and `invalid_transition` for a move out of a final one.
 */
export function decideMove(
  from: CandidateStatus,
  to: CandidateStatus,
  customStatuses: readonly string[] = [],
): boolean {
  if (!isKnownStatus(to, customStatuses)) {
    throw unknownStatus(to, customStatuses);
  }
  if (from === to) return false;
  if (isFinal(from)) {
    throw new DomainError(
      'invalid_transition',
      `A release candidate cannot move from ${from} to ${to}: ${from} is final`,
    );
  }
  return true;
}

/**
 * Throws `invalid_transition` where the project does not let somebody finalize candidates by hand.
 * @param setting `configuration.manualFinalization` of the project.
 */
export function assertMayFinalize(
  setting: 'anyone' | 'owner' | 'never' | undefined,
  { isOwner }: { isOwner: boolean },
): void {
  if (setting === 'never')
    throw new DomainError(
      'invalid_transition',
      'Candidates of this project are finalized by their deployments only (manualFinalization: never)',
    );
  if (setting === 'owner' && !isOwner)
    throw new DomainError(
      'invalid_transition',
      'Only owners finalize candidates of this project (manualFinalization: owner)',
    );
}

/** Throws `locked` when the content of a candidate of that status may not change. */
export function assertNotFinal(status: CandidateStatus, releaseName: string): void {
  if (isFinal(status)) {
    throw new DomainError('locked', `The release candidate ${releaseName} is ${status}; its content cannot change`);
  }
}
