import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from './launch.ts';
import { GRPC, hasGrpcStatus } from './temporal-errors.ts';

/** Says which search attributes are missing, and how an operator creates them. */
export class SearchAttributesError extends Error {}

const DEADLINE_MS = 10_000;
/** https://api-docs.temporal.io/#temporal.api.enums.v1.IndexedValueType */
const KEYWORD = 2;

/**
 * Creates the search attributes that the client's namespace does not have. `unchecked`: this client may not list them.
 * Throws `SearchAttributesError` when one is missing and cannot be created, or has another type.
 */
export const ensureSearchAttributes = (client: Client): Promise<'present' | 'created' | 'unchecked'> =>
  client.withDeadline(Date.now() + DEADLINE_MS, async () => {
    const { operatorService } = client.connection;
    const { namespace } = client.options;
    const existing = await operatorService.listSearchAttributes({ namespace }).catch((error: unknown) => {
      if (hasGrpcStatus(error, GRPC.PERMISSION_DENIED, GRPC.UNIMPLEMENTED)) return undefined;
      throw error;
    });
    if (!existing) return 'unchecked';
    const { customAttributes } = existing;
    const wrong = SEARCH_ATTRIBUTES.filter((name) => (customAttributes[name] ?? KEYWORD) !== KEYWORD);
    if (wrong.length > 0)
      throw new SearchAttributesError(
        `The namespace ${namespace} has search attributes of another type than Keyword: ${wrong.join(', ')}. Use another namespace, or rename them.`,
      );
    const missing = SEARCH_ATTRIBUTES.filter((name) => customAttributes[name] === undefined);
    if (missing.length === 0) return 'present';
    try {
      await operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
      });
    } catch (error) {
      if (hasGrpcStatus(error, GRPC.UNAVAILABLE, GRPC.DEADLINE_EXCEEDED)) throw error;
      if (!hasGrpcStatus(error, GRPC.ALREADY_EXISTS)) throw missingAttributes(namespace, missing, error);
    }
    return 'created';
  });

const missingAttributes = (namespace: string, missing: readonly string[], cause: unknown): SearchAttributesError =>
  new SearchAttributesError(
    [
      `The namespace ${namespace} has no search attributes ${missing.join(', ')}, and they could not be created (${String(cause)}).`,
      `Create them: temporal operator search-attribute create --namespace ${namespace} --type Keyword ${missing.map((name) => `--name ${name}`).join(' ')}`,
    ].join(' '),
    { cause },
  );
