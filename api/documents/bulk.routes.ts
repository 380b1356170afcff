import { STATUS_OF } from '../http/problems.ts';
import type { WriteOutcome, WriteRequest } from '../../domain/documents/document-store.port.ts';
import { refusedCollection, refusedKey } from '../../domain/documents/name-rules.ts';
import { expectedVersion, refusedWrite } from '../../domain/documents/precondition-rules.ts';
import { valueText } from '../../domain/documents/value-rules.ts';
import type { z } from 'zod';
import { DomainError, invalidField } from '../../domain/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { BULK_MAX, BulkIn, BulkReply, type BulkResult, GROUP, ofStore } from './documents.schemas.ts';

type Item = z.output<typeof BulkIn>['documents'][number];
type Result = z.input<typeof BulkResult>;

/** Throws what the write alone would have been refused with, before it is tried. */
function checked(
  { collection, key, value, version }: Item,
  place: number,
): Pick<WriteRequest, 'collection' | 'key' | 'value' | 'sizeBytes' | 'expectedVersion'> {
  const pointer = `#/body/documents/${place}`;
  for (const [member, refusal] of [
    ['collection', refusedCollection(collection)],
    ['key', refusedKey(key)],
  ] as const) {
    if (refusal !== undefined) throw invalidField(`${pointer}/${member}`, `the ${member} ${refusal}`);
  }
  const { text, sizeBytes } = valueText(value, `${pointer}/value`);
  return { collection, key, value: text, sizeBytes, expectedVersion: expectedVersion({ version }) };
}

const refusal = ({ collection, key }: Item, { code, message, extras }: DomainError): Result => ({
  collection,
  key,
  status: STATUS_OF[code],
  error: { code, detail: message, ...(extras.members as { currentVersion?: number | null }) },
});

const result = (item: Item, outcome: WriteOutcome): Result =>
  outcome.isWritten
    ? {
        collection: item.collection,
        key: item.key,
        status: outcome.version === 1 ? 201 : 200,
        version: outcome.version,
      }
    : refusal(item, refusedWrite({ version: item.version }, outcome.currentVersion));

export const bulkRoutes = [
  defineRoute({
    operationId: 'saveDocuments',
    method: 'post',
    path: '/api/doc-store/bulk',
    group: GROUP,
    summary: `Write up to ${BULK_MAX.toLocaleString('en')} documents`,
    description:
      'Each as it would be written alone, with an outcome of its own, in the order of the request. With `atomic` all are written or none: when one is refused the answer is its refusal, 409 with `results` where versions are in conflict.',
    roles: ANY_ROLE,
    query: ofStore,
    body: BulkIn,
    takesExactNumbers: true,
    status: 200,
    response: BulkReply,
    errors: ['version_conflict'],
    audit: ['document.created', 'document.updated'],
    async handle(
      { query: { store }, body: { documents: items, atomic } },
      { actor, requestId, traceparent, adapters },
    ) {
      const results: (Result | undefined)[] = items.map(() => undefined);
      const requests: { place: number; request: WriteRequest }[] = [];
      for (const [place, item] of items.entries()) {
        try {
          requests.push({ place, request: { store, actor, requestId, traceparent, ...checked(item, place) } });
        } catch (error) {
          if (atomic || !(error instanceof DomainError)) throw error;
          results[place] = refusal(item, error);
        }
      }
      const outcomes = await adapters.documents.writeAll(
        requests.map(({ request }) => request),
        { isAtomic: atomic },
      );
      requests.forEach(({ place }, index) => {
        results[place] = result(items[place] as Item, outcomes[index] as WriteOutcome);
      });
      const written = outcomes.filter(({ isWritten }) => isWritten).length;
      if (atomic && written < items.length) {
        throw new DomainError('version_conflict', 'Nothing was written, because not all documents could be', {
          members: { results: results.filter((each) => each?.error) },
        });
      }
      return { results: results as Result[], written, refused: items.length - written };
    },
  }),
];
