import type {
  ListedComponent,
  MetadataType,
  RetrieveMessage,
  RetrieveStatus,
} from '../../../domain/orgs/crm/crm-metadata.port.ts';
import type { CrmAnswer } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { cut, failure, malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { isoTime } from './crm-org.ts';
import type { OpenSession } from './crm-session.ts';
import { childOf, textOf, textsOf, type XmlElement } from './crm-soap.ts';
import { withoutSecrets } from './crm-tokens.ts';

export const NO_RESULT = malformed('NO_RESULT', 'The reply is not the one to this call.');

export const metadataType = (record: XmlElement): MetadataType => ({
  name: textOf(record, 'xmlName') ?? '',
  directoryName: textOf(record, 'directoryName') ?? '',
  suffix: textOf(record, 'suffix'),
  isInFolder: textOf(record, 'inFolder') === 'true',
  hasMetaFile: textOf(record, 'metaFile') === 'true',
  childTypes: textsOf(record, 'childXmlNames').filter((name) => name !== ''),
});

export const listedComponent = (record: XmlElement): ListedComponent => ({
  type: textOf(record, 'type'),
  fullName: textOf(record, 'fullName') ?? '',
  fileName: textOf(record, 'fileName'),
  id: textOf(record, 'id'),
  createdAt: isoTime(textOf(record, 'createdDate')),
  createdByName: textOf(record, 'createdByName'),
  lastModifiedAt: isoTime(textOf(record, 'lastModifiedDate')),
  lastModifiedByName: textOf(record, 'lastModifiedByName'),
  lastModifiedById: textOf(record, 'lastModifiedById'),
  manageableState: textOf(record, 'manageableState'),
  namespacePrefix: textOf(record, 'namespacePrefix'),
});

export const retrieveMessage = (record: XmlElement, { accessToken }: OpenSession): RetrieveMessage => ({
  fileName: textOf(record, 'fileName') ?? '',
  problem: cut(withoutSecrets(textOf(record, 'problem') ?? '', [accessToken])),
});

const STATES = new Map<string, RetrieveStatus['state']>([
  ['Pending', 'pending'],
  ['InProgress', 'in_progress'],
  ['Succeeded', 'succeeded'],
  ['Failed', 'failed'],
]);

export function retrieveStatus(result: XmlElement, accessToken: string): RetrieveStatus {
  const code = textOf(result, 'errorStatusCode');
  const message = textOf(result, 'errorMessage');
  return {
    state: STATES.get(textOf(result, 'status') ?? '') ?? (textOf(result, 'done') === 'true' ? 'failed' : 'in_progress'),
    errorCode: code && cut(code),
    errorMessage: message && cut(withoutSecrets(message, [accessToken])),
  };
}

/** Size of the archive, where the retrieve has one. */
export function archiveState(response: XmlElement, sizeBytes: number, { accessToken }: OpenSession): CrmAnswer<number> {
  const result = childOf(response, 'result');
  if (!result) return NO_RESULT;
  const { state, errorCode, errorMessage } = retrieveStatus(result, accessToken);
  if (state === 'failed')
    return failure(
      'refused',
      errorCode,
      errorMessage ?? 'The retrieve failed.',
      'Ask for less at once, or leave out what the org refuses.',
    );
  if (state !== 'succeeded')
    return failure('refused', 'NOT_DONE', 'The retrieve is still under way.', 'Ask again later.');
  if (sizeBytes > 0) return { isOk: true, value: sizeBytes };
  return failure(
    'not_found',
    'NO_ARCHIVE',
    'The archive has been fetched before, and the org keeps it no longer.',
    'Start a new retrieve.',
  );
}
