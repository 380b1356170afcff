import type { CrmFailure } from '../../crm/crm-platform.port.ts';
import { DomainError, type ErrorExtras } from '../../../kernel/shared/errors.ts';

/** A failure of the platform as a sentence for people. @param what begins it: `Org ci@acme.example`. */
export const failureText = (what: string, { message, hint }: CrmFailure): string =>
  `${what}: ${/[.!?]$/.test(message) ? message : `${message}.`} ${hint}`;

const extrasOf = ({ code, hint }: CrmFailure): ErrorExtras => ({ members: { hint, platformCode: code } });

/** The platform did not do what a request needs: `upstream_error`, or `upstream_timeout`. */
export const platformFailed = (what: string, failure: CrmFailure): DomainError =>
  new DomainError(
    failure.kind === 'timeout' ? 'upstream_timeout' : 'upstream_error',
    failureText(what, failure),
    extrasOf(failure),
  );

const IS_REFUSAL: Record<CrmFailure['kind'], boolean> = {
  auth_failed: true,
  refused: true,
  not_found: true,
  limited: false,
  unreachable: false,
  timeout: false,
  malformed: false,
};

/**
 * The error of a failure where a credential or name is tried that the request gave: a refusal is `invalid_request` of that
 * field.
 */
export const platformRefused = (what: string, failure: CrmFailure, field: string): DomainError =>
  IS_REFUSAL[failure.kind]
    ? new DomainError('invalid_request', failureText(what, failure), {
        ...extrasOf(failure),
        fields: [{ pointer: field, detail: failureText(what, failure) }],
      })
    : platformFailed(what, failure);
