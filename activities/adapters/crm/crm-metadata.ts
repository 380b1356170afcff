import type { ListedComponent, MetadataType, RetrieveMessage } from '../../../domain/orgs/crm/crm-metadata.port.ts';
import type { CrmAnswer, CrmFailure, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { failure, malformed, orgFailure } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { xmlText } from '../../../domain/orgs/crm/xml-rules.ts';
import { withArchive } from './crm-archive.ts';
import type { CrmResponse, CrmTimeouts } from './crm-http.ts';
import {
  archiveState,
  listedComponent,
  metadataType,
  NO_RESULT,
  retrieveMessage,
  retrieveStatus,
} from './crm-metadata-records.ts';
import { RETRIEVE_MAX_BYTES, splitReply } from './crm-retrieve-reply.ts';
import type { CrmSession, OpenSession, RawCall } from './crm-session.ts';
import { childOf, type SoapFault, soapEnvelope, soapReader, textOf, xmlElement, type XmlElement } from './crm-soap.ts';
import { withoutSecrets } from './crm-tokens.ts';

const REPLY_MAX_BYTES = 64 * 1_048_576;
/** The platform's own limit of `listMetadata`. */
const MAX_QUERIES = 3;

type Metadata = Pick<CrmOrg, 'describeMetadata' | 'listMetadata' | 'startRetrieve' | 'retrieveStatus' | 'download'>;

interface SoapCall {
  operation: string;
  contents: (session: OpenSession) => string;
  /** Names of elements that are read one by one. */
  records?: readonly string[];
  onRecord?: (record: XmlElement) => void;
}

/** The Metadata interface of an org, which is SOAP: it has no REST equivalent. */
export function createCrmMetadata(session: CrmSession, timeouts: CrmTimeouts): Metadata {
  const raw = <Value>(
    open: OpenSession,
    { operation, contents }: SoapCall,
    bounds: Pick<RawCall, 'timeoutMs' | 'maxBytes'>,
    read: (response: CrmResponse) => Promise<CrmAnswer<Value>>,
  ) =>
    session.send(
      open,
      {
        method: 'POST',
        path: `/services/Soap/m/${open.version}`,
        headers: { 'content-type': 'text/xml; charset=UTF-8', accept: 'text/xml', soapaction: '""' },
        body: soapEnvelope(open.accessToken, operation, contents(open)),
        ...bounds,
      },
      async (response) => notSoap(response) ?? read(response),
    );

  /** The `result` of a call, or its response where results are records. */
  const soap = (call: SoapCall): Promise<CrmAnswer<XmlElement>> =>
    session.withCredential((open) =>
      raw<XmlElement>(
        open,
        call,
        { timeoutMs: timeouts.callMs, maxBytes: REPLY_MAX_BYTES },
        async ({ status, body }) => {
          const reader = soapReader(new Set(call.records), call.onRecord ?? (() => undefined));
          const decoder = new TextDecoder();
          for await (const chunk of body) reader.write(decoder.decode(chunk, { stream: true }));
          const end = reader.close();
          return 'fault' in end ? faultOf(end.fault, open) : responseOf(status, end.response, call.operation);
        },
      ),
    );

  return {
    async describeMetadata() {
      const types: MetadataType[] = [];
      const answer = await soap({
        operation: 'describeMetadata',
        contents: ({ version }) => xmlElement('asOfVersion', version),
        records: ['metadataObjects'],
        onRecord(record) {
          const type = metadataType(record);
          if (type.name !== '') types.push(type);
        },
      });
      return answer.isOk ? { isOk: true, value: types } : answer;
    },

    async listMetadata(queries) {
      if (queries.length === 0 || queries.length > MAX_QUERIES)
        throw new Error(`one to ${MAX_QUERIES} queries, not ${queries.length}`);
      let components: ListedComponent[] = [];
      const answer = await soap({
        operation: 'listMetadata',
        contents(open) {
          // A call that is repeated with another credential begins anew.
          components = [];
          return queries.map(listQuery).join('') + xmlElement('asOfVersion', open.version);
        },
        records: ['result'],
        onRecord(record) {
          const component = listedComponent(record);
          if (component.fullName !== '') components.push(component);
        },
      });
      return answer.isOk ? { isOk: true, value: components } : answer;
    },

    async startRetrieve(order) {
      const answer = await soap({
        operation: 'retrieve',
        contents: ({ version }) =>
          xmlElement(
            'retrieveRequest',
            xmlElement('apiVersion', version) +
              ('packageName' in order
                ? xmlElement('packageNames', xmlText(order.packageName)) + xmlElement('singlePackage', 'true')
                : xmlElement('singlePackage', 'false') +
                  xmlElement('unpackaged', order.types.map(typeMembers).join('') + xmlElement('version', version))),
          ),
      });
      if (!answer.isOk) return answer;
      const retrieveId = textOf(childOf(answer.value, 'result') ?? answer.value, 'id');
      return retrieveId === null ? NO_RESULT : { isOk: true, value: { retrieveId } };
    },

    async retrieveStatus(retrieveId) {
      let accessToken = '';
      // The platform lists the files in each status: they are read at the download only.
      const answer = await soap({
        operation: 'checkRetrieveStatus',
        contents(open) {
          ({ accessToken } = open);
          return statusRequest(retrieveId, false);
        },
        records: ['fileProperties', 'messages'],
      });
      if (!answer.isOk) return answer;
      const result = childOf(answer.value, 'result');
      return result ? { isOk: true, value: retrieveStatus(result, accessToken) } : NO_RESULT;
    },

    download: (retrieveId, consume) =>
      session.withCredential((open) =>
        withArchive(async (file) => {
          const files: ListedComponent[] = [];
          const messages: RetrieveMessage[] = [];
          const call: SoapCall = { operation: 'checkRetrieveStatus', contents: () => statusRequest(retrieveId, true) };
          const bounds = { timeoutMs: timeouts.downloadMs, maxBytes: RETRIEVE_MAX_BYTES };
          const received = await raw(open, call, bounds, async ({ status, body }) => {
            const reader = soapReader(new Set(['fileProperties', 'messages']), (record) => {
              if (record.name === 'messages') messages.push(retrieveMessage(record, open));
              else files.push(listedComponent(record));
            });
            const sizeBytes = await splitReply(body, { xml: reader.write, zip: file.write });
            const end = reader.close();
            if ('fault' in end) return faultOf(end.fault, open);
            const answer = responseOf(status, end.response, call.operation);
            return answer.isOk ? archiveState(answer.value, sizeBytes, open) : answer;
          });
          if (!received.isOk) return received;
          return file.read((entries) => consume({ sizeBytes: received.value, entries, files, messages }));
        }),
      ),
  };
}

const listQuery = ({ type, folder }: { type: string; folder?: string }): string =>
  xmlElement(
    'queries',
    (folder === undefined ? '' : xmlElement('folder', xmlText(folder))) + xmlElement('type', xmlText(type)),
  );

const typeMembers = ({ name, members }: { name: string; members: readonly string[] }): string =>
  xmlElement(
    'types',
    members.map((member) => xmlElement('members', xmlText(member))).join('') + xmlElement('name', xmlText(name)),
  );

const statusRequest = (retrieveId: string, includeZip: boolean): string =>
  xmlElement('asyncProcessId', xmlText(retrieveId)) + xmlElement('includeZip', String(includeZip));

/** Anything but SOAP: by its status, or as malformed. Faults come with 500. */
function notSoap({ status, contentType }: CrmResponse) {
  const isXml = /xml/i.test(contentType) && !/html/i.test(contentType);
  if (isXml && (status === 200 || status === 500)) return undefined;
  if (status !== 200) return orgFailure({ status });
  return malformed(
    /html/i.test(contentType) ? 'HTML' : 'NOT_XML',
    'The answer is not the SOAP that the interface promises.',
  );
}

function responseOf(status: number, response: XmlElement, operation: string): CrmAnswer<XmlElement> {
  if (status !== 200) return orgFailure({ status });
  return response.name === `${operation}Response` ? { isOk: true, value: response } : NO_RESULT;
}

/** Access tokens that are JWTs are taken by the Metadata interface from this version on. */
const JWT_VERSION = 68;

/** Faults come with 500, whoever is to blame: the code decides, and 400 stands for those that are not known. */
function faultOf({ code, message }: SoapFault, { accessToken, version }: OpenSession): CrmFailure {
  // The same fault as of an ended session, but a new token of this app is refused likewise.
  const isJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(accessToken);
  if (code === 'INVALID_SESSION_ID' && isJwt && Number(version) < JWT_VERSION) return JWT_REFUSED;
  return orgFailure({ status: 400, code, message: withoutSecrets(message, [accessToken]) });
}

const JWT_REFUSED = failure(
  'refused',
  'JWT_ACCESS_TOKEN',
  `The Metadata interface takes tokens of this app from version ${JWT_VERSION}.0 on only.`,
  'Have the app issue opaque access tokens instead of JWT-based ones, or raise CRM_API_VERSION_MAX when the org has the version.',
);
