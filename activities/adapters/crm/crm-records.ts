import { z } from 'zod';
import type { CrmRecords, RecordWrites, WrittenRecord } from '../../../domain/orgs/crm/crm-records.port.ts';
import type { CrmAnswer } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { cut, malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { shaped } from './crm-org.ts';
import type { CrmSession, RestCall } from './crm-session.ts';

const PATH = '/composite/sobjects';

const Written = z.array(
  z.object({
    id: z.string().nullish(),
    success: z.boolean(),
    errors: z.array(z.object({ statusCode: z.string(), message: z.string() })).default([]),
  }),
);

/** Records of an org, by its composite resource (developer.salesforce.com, "sObject Collections"). */
export function createCrmRecords(session: CrmSession): CrmRecords {
  const write = async (call: RestCall, count: number): Promise<CrmAnswer<WrittenRecord[]>> => {
    const answer = shaped(await session.call(call), Written);
    if (!answer.isOk) return answer;
    if (answer.value.length !== count)
      return malformed('OTHER_COUNT', 'The answer does not say of each record what became of it.');
    return {
      isOk: true,
      value: answer.value.map(({ id, success, errors }) => ({
        id: success ? (id ?? null) : null,
        errors: success ? [] : errors.map(({ statusCode: code, message }) => ({ code, message: cut(message) })),
      })),
    };
  };
  const send = (method: 'POST' | 'PATCH', { type, records }: RecordWrites) =>
    write(
      {
        method,
        path: PATH,
        body: { allOrNone: false, records: records.map((record) => ({ attributes: { type }, ...record })) },
      },
      records.length,
    );
  return {
    createRecords: (writes) => send('POST', writes),
    updateRecords: (writes) => send('PATCH', writes),
    deleteRecords: (ids) =>
      write(
        { method: 'DELETE', path: `${PATH}?${new URLSearchParams({ ids: ids.join(','), allOrNone: 'false' })}` },
        ids.length,
      ),
  };
}
