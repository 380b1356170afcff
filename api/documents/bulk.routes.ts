import type { z } from 'zod';
import { type DocumentItem, type ItemOutcome, writeDocuments } from '../../domain/documents/write-documents.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { STATUS_OF } from '../http/problems.ts';
import { BULK_MAX, BulkIn, BulkReply, type BulkResult, GROUP, ofStore } from './documents.schemas.ts';

function resultOf({ collection, key }: DocumentItem, outcome: ItemOutcome): z.input<typeof BulkResult> {
  if ('version' in outcome)
    return { collection, key, status: outcome.version === 1 ? 201 : 200, version: outcome.version };
  const { code, message, extras } = outcome.refusal;
  return {
    collection,
    key,
    status: STATUS_OF[code],
    error: { code, detail: message, ...extras.members },
  };
}

export const bulkRoutes = [
  defineRoute({
    operationId: 'saveDocuments',
    method: 'post',
    path: '/api/doc-store/bulk',
    group: GROUP,
    summary: `Write up to ${BULK_MAX.toLocaleString('en')} documents`,
    description:
      'Each document is written as on its own and has its own result, in the order of the request. With `atomic`, either all are written or none: the reply is the first error, or 409 with `results` for version conflicts.',
    roles: ANY_ROLE,
    projectScope: 'collection',
    query: ofStore,
    body: BulkIn,
    takesDocuments: true,
    takesExactNumbers: true,
    status: 200,
    response: BulkReply,
    errors: ['version_conflict'],
    audit: ['document.created', 'document.updated'],
    async handle({ query: { store }, body: { documents: items, atomic } }, scope) {
      const outcomes = await writeDocuments(scope.adapters.documents, scope, store, items, { isAtomic: atomic });
      const results = items.map((item, index) => resultOf(item, outcomes[index] as ItemOutcome));
      const written = results.filter(({ error }) => !error).length;
      if (atomic && written < items.length) {
        throw new DomainError(
          'version_conflict',
          'Nothing was written, because some documents have version conflicts',
          {
            members: { results: results.filter(({ error }) => error) },
          },
        );
      }
      return { results, written, refused: items.length - written };
    },
  }),
];
