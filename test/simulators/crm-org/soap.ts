import { SaxesParser } from 'saxes';
import { deployOverSoap } from './deployments-soap.ts';
import { DTD_BOMB, soapFault } from './faults.ts';
import type { StoredComponent } from './metadata-store.ts';
import { TYPES } from './metadata-types.ts';
import { newId, type RetrieveJob, type SimulatedOrg } from './org.ts';
import type { Reply, SimulatedRequest } from './replies.ts';
import { HOSTILE_ZIPS, type ZipPart, zipOf } from './zip.ts';

const MAX_QUERIES = 3;

interface Element {
  name: string;
  text: string;
  children: Element[];
}

/** The Metadata interface of an org; undefined for other paths. */
export function soap(org: SimulatedOrg, { path, body, fault }: SimulatedRequest): Reply | undefined {
  const [, version = ''] = /^\/services\/Soap\/m\/(\d+\.\d)(?:\/.*)?$/.exec(path) ?? [];
  if (version === '') return undefined;
  if (fault?.kind === 'doctype') return xml(200, DTD_BOMB);
  const envelope = treeOf(body);
  const sessionId = textAt(envelope, 'Header', 'SessionHeader', 'sessionId');
  const call = childrenOf(at(envelope, 'Body'))[0] ?? NOTHING;
  const isUnfit = org.hasJwtTokens && Number(version) < 68;
  if (!org.sessions.has(sessionId) || !org.isUserActive || isUnfit)
    return refuse('INVALID_SESSION_ID', 'Invalid Session ID found in SessionHeader');
  switch (call.name) {
    case 'describeMetadata':
      return result(
        'describeMetadata',
        `<result>${TYPES.filter(({ xmlName }) => !org.absentTypes.has(xmlName))
          .map(describe)
          .join(
            '',
          )}<organizationNamespace/><partialSaveAllowed>true</partialSaveAllowed><testRequired>false</testRequired></result>`,
      );
    case 'listMetadata':
      return list(org, call);
    case 'retrieve':
      return retrieve(org, call);
    case 'checkRetrieveStatus': {
      const job = org.retrieves.get(textAt(call, 'asyncProcessId').slice(0, 15));
      if (!job) return refuse('INVALID_CROSS_REFERENCE_KEY', 'invalid id');
      const zip =
        fault?.kind === 'zip' ? (typeof fault.zip === 'string' ? HOSTILE_ZIPS[fault.zip]() : fault.zip) : undefined;
      return retrieveStatus(org, job, textAt(call, 'includeZip') !== 'false', zip);
    }
    default: {
      const testClasses = childrenOf(at(call, 'DeployOptions'))
        .filter(({ name }) => name === 'runTests')
        .map(({ text }) => text);
      const answer = deployOverSoap(org, { name: call.name, at: (...names) => textAt(call, ...names), testClasses });
      if (answer)
        return 'result' in answer
          ? result(call.name, `<result>${answer.result}</result>`)
          : refuse(answer.code, answer.message);
      return refuse('UNKNOWN_EXCEPTION', 'No operation available for this request');
    }
  }
}

const NOTHING: Element = { name: '', text: '', children: [] };

const describe = ({
  xmlName,
  directoryName,
  suffix,
  inFolder = false,
  metaFile = false,
  children = {},
}: (typeof TYPES)[number]): string =>
  `<metadataObjects>${Object.keys(children)
    .map((name) => `<childXmlNames>${name}</childXmlNames>`)
    .join(
      '',
    )}<directoryName>${directoryName}</directoryName><inFolder>${inFolder}</inFolder><metaFile>${metaFile}</metaFile>${
    suffix === null ? '' : `<suffix>${suffix}</suffix>`
  }<xmlName>${xmlName}</xmlName></metadataObjects>`;

function list(org: SimulatedOrg, call: Element): Reply {
  const queries = childrenOf(call).filter(({ name }) => name === 'queries');
  if (queries.length > MAX_QUERIES) return refuse('LIMIT_EXCEEDED', 'Too many queries');
  const found: string[] = [];
  for (const query of queries) {
    const folder = textAt(query, 'folder');
    const type = textAt(query, 'type');
    const isRefused = org.unlistable.has(type) || org.absentTypes.has(type);
    const components = isRefused ? undefined : org.metadata.list(type, folder === '' ? undefined : folder);
    if (!components) return refuse('INVALID_TYPE', `Unknown type: ${escaped(type)}`);
    found.push(...components.map((component) => `<result>${properties(org, component, component.fileName)}</result>`));
  }
  return result('listMetadata', found.join(''));
}

const properties = (
  { userId, listsWithoutTypes }: SimulatedOrg,
  { type, fullName, id, newest }: StoredComponent,
  fileName: string,
): string =>
  `<createdById>${userId}</createdById><createdByName>Ada Admin</createdByName>` +
  `<createdDate>${newest.createdAt.toISOString()}</createdDate><fileName>${escaped(fileName)}</fileName>` +
  `<fullName>${escaped(fullName)}</fullName><id>${id}</id><lastModifiedById>${userId}</lastModifiedById>` +
  `<lastModifiedByName>${escaped(newest.modifiedBy)}</lastModifiedByName>` +
  `<lastModifiedDate>${newest.modifiedAt.toISOString()}</lastModifiedDate>` +
  (newest.manageableState === null ? '' : `<manageableState>${newest.manageableState}</manageableState>`) +
  (newest.namespacePrefix === null ? '' : `<namespacePrefix>${newest.namespacePrefix}</namespacePrefix>`) +
  (listsWithoutTypes ? '<type xsi:nil="true"/>' : `<type>${type}</type>`);

function retrieve(org: SimulatedOrg, call: Element): Reply {
  // The platform goes by the order of elements: clients give this one different names.
  const request = childrenOf(call)[0];
  if (textAt(request, 'apiVersion') === '') return refuse('INVALID_FIELD', 'apiVersion is required');
  const members = childrenOf(at(request, 'unpackaged'))
    .filter(({ name }) => name === 'types')
    .map((types) => ({
      name: textAt(types, 'name'),
      members: childrenOf(types)
        .filter(({ name }) => name === 'members')
        .map(({ text }) => text),
    }));
  const packageName = textAt(request, 'packageNames') || null;
  const packaged = packageName === null ? members : (org.outboundSets.get(packageName) ?? []);
  const job = { id: newId('09S'), members: packaged, packageName, pollsLeft: org.retrievePolls, isFetched: false };
  org.retrieves.set(job.id, job);
  return result('retrieve', `<result><done>false</done><id>${job.id}AAA</id><state>Queued</state></result>`);
}

function retrieveStatus(org: SimulatedOrg, job: RetrieveJob, isWithZip: boolean, hostile: Buffer | undefined): Reply {
  if (job.pollsLeft > 0) {
    job.pollsLeft--;
    return statusReply(job, 'InProgress', '<zipFile xsi:nil="true"/>');
  }
  const refused = job.members.flatMap(({ members }) => members).find((member) => org.unretrievable?.test(member));
  if (refused !== undefined)
    return statusReply(
      job,
      'Failed',
      '<zipFile xsi:nil="true"/>',
      `<errorMessage>An unexpected error occurred at ${escaped(refused)}</errorMessage><errorStatusCode>UNKNOWN_EXCEPTION</errorStatusCode>`,
    );
  const components = new Map<string, StoredComponent>();
  const messages: string[] = [];
  const { packageName } = job;
  if (packageName !== null && !org.outboundSets.has(packageName))
    messages.push(problem('package.xml', `No package named '${packageName}' found`));
  const folder = packageName === null ? 'unpackaged/' : '';
  for (const { name, members } of job.members) {
    const byName = org.metadata.byName(name);
    for (const member of members) {
      const found = member === '*' ? org.metadata.all(name) : [byName.get(member)];
      if (!found) messages.push(problem('package.xml', `Unknown type name '${name}' specified in package.xml`));
      for (const component of found ?? []) {
        if (component) components.set(`${name} ${component.fullName}`, component);
        else
          messages.push(
            problem('unpackaged/package.xml', `Entity of type '${name}' named '${member}' cannot be found`),
          );
      }
    }
  }
  const files = new Map<string, ZipPart>();
  const about: string[] = [];
  for (const component of components.values()) {
    about.push(`<fileProperties>${properties(org, component, `${folder}${component.fileName}`)}</fileProperties>`);
    for (const { path, content } of component.files) files.set(path, { name: `${folder}${path}`, content });
  }
  if (files.size > org.maxFiles)
    return statusReply(
      job,
      'Failed',
      `<zipFile xsi:nil="true"/>`,
      `<errorMessage>The retrieved zip file exceeds the maximum of ${org.maxFiles} files</errorMessage><errorStatusCode>LIMIT_EXCEEDED</errorStatusCode>`,
    );
  let zipFile = '<zipFile xsi:nil="true"/>';
  if (isWithZip && !job.isFetched) {
    job.isFetched = true;
    const zip = hostile ?? zipOf([{ name: `${folder}package.xml`, content: manifest(job) }, ...files.values()]);
    zipFile = `<zipFile>${zip.toString('base64')}</zipFile>`;
  }
  return statusReply(job, 'Succeeded', zipFile, about.join(''), messages.join(''));
}

/** Elements in the order of the WSDL. */
const statusReply = ({ id }: RetrieveJob, state: string, zipFile: string, before = '', messages = ''): Reply =>
  result(
    'checkRetrieveStatus',
    `<result><done>${state !== 'InProgress'}</done>${before}<id>${id}AAA</id>${messages}<status>${state}</status><success>${state === 'Succeeded'}</success>${zipFile}</result>`,
  );

const problem = (fileName: string, text: string): string =>
  `<messages><fileName>${fileName}</fileName><problem>${escaped(text)}</problem></messages>`;

/** The manifest of a named package says its name (developer.salesforce.com, Metadata API, "Sample package.xml Manifest Files"). */
const manifest = ({ members: types, packageName }: RetrieveJob): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n<Package xmlns="http://soap.sforce.com/2006/04/metadata">' +
  (packageName === null ? '' : `<fullName>${escaped(packageName)}</fullName>`) +
  types
    .map(
      ({ name, members }) =>
        `<types>${members.map((member) => `<members>${escaped(member)}</members>`).join('')}<name>${name}</name></types>`,
    )
    .join('') +
  '<version>66.0</version></Package>';

const result = (operation: string, contents: string): Reply =>
  xml(
    200,
    '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns="http://soap.sforce.com/2006/04/metadata" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' +
      `<soapenv:Body><${operation}Response>${contents}</${operation}Response></soapenv:Body></soapenv:Envelope>`,
  );

const refuse = (code: string, message: string): Reply => xml(500, soapFault(code, message));
const xml = (status: number, body: string): Reply => ({ status, contentType: 'text/xml; charset=UTF-8', body });
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function treeOf(text: string): Element {
  const root: Element = { name: '', text: '', children: [] };
  const open = [root];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    const element = { name: name.slice(name.indexOf(':') + 1), text: '', children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (piece) => {
    const element = open.at(-1);
    if (element) element.text += piece;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return root.children[0] ?? root;
}

const childrenOf = (element: Element | undefined): Element[] => element?.children ?? [];
const at = (element: Element | undefined, ...names: string[]): Element | undefined =>
  names.reduce<Element | undefined>((parent, wanted) => parent?.children.find(({ name }) => name === wanted), element);
const textAt = (element: Element | undefined, ...names: string[]): string => at(element, ...names)?.text.trim() ?? '';
