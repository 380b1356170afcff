import { SaxesParser } from 'saxes';
import { xmlText } from '../../../domain/orgs/crm/xml-rules.ts';
import { MalformedAnswer } from './crm-http.ts';

const MAX_DEPTH = 32;
const MAX_TEXT = 1_048_576;
/** Elements, with their attributes, in memory at a time: an empty one of four bytes costs a hundred times as much. */
const MAX_KEPT = 100_000;
const MAX_RECORDS = 500_000;

/** An element of a reply, by its local name. */
export interface XmlElement {
  name: string;
  text: string;
  isNil: boolean;
  children: XmlElement[];
}

export interface SoapFault {
  /** Without the prefix: `INVALID_SESSION_ID`. */
  code: string;
  message: string;
}

export interface SoapReader {
  write: (text: string) => void;
  /** The end: what stood in the body beside the records, or the fault. Throws `MalformedAnswer`. */
  close: () => { fault: SoapFault } | { response: XmlElement };
}

/**
 * Reads a SOAP reply piece by piece. Elements of the given names below the response go to `onRecord` as they end, and are
 * not kept, so that long lists cost little memory. Document types, and so entities of one's own, are refused.
 */
export function soapReader(records: ReadonlySet<string>, onRecord: (record: XmlElement) => void): SoapReader {
  const parser = new SaxesParser({ position: false });
  const root = elementOf('');
  const open: XmlElement[] = [root];
  let kept = 0;
  /** Elements that were kept before each open element began, outermost first. */
  const keptBefore: number[] = [];
  let recordCount = 0;
  const keep = () => {
    if (++kept > MAX_KEPT) throw new MalformedAnswer('XML_SIZE', 'The answer has too many elements.');
  };
  const top = () => open.at(-1) ?? root;

  const addText = (text: string) => {
    const element = top();
    element.text += text;
    if (element.text.length > MAX_TEXT) throw new MalformedAnswer('XML_TEXT', 'A text of the answer is too long.');
  };
  parser.on('error', () => {
    throw new MalformedAnswer('XML', 'The answer is not well-formed XML.');
  });
  parser.on('doctype', () => {
    throw new MalformedAnswer('XML_DOCTYPE', 'The answer has a document type, which no reply of the platform has.');
  });
  parser.on('opentagstart', () => {
    keptBefore.push(kept);
    keep();
  });
  parser.on('attribute', keep);
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= MAX_DEPTH) throw new MalformedAnswer('XML_DEPTH', 'The answer is nested too deeply.');
    const element = elementOf(localName(name));
    element.isNil = Object.entries(attributes).some(([key, value]) => localName(key) === 'nil' && value === 'true');
    if (open.length === 1 && element.name !== 'Envelope')
      throw new MalformedAnswer(
        element.name.toLowerCase() === 'html' ? 'HTML' : 'XML',
        'The answer is not a SOAP envelope.',
      );
    open.push(element);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const element = open.pop() ?? root;
    const before = keptBefore.pop() ?? 0;
    // Envelope, Body and the response are above what can be a record.
    if (open.length <= 3 || !records.has(element.name)) {
      top().children.push(element);
      return;
    }
    kept = before;
    if (++recordCount > MAX_RECORDS) throw new MalformedAnswer('XML_SIZE', 'The answer has too many records.');
    onRecord(element);
  });

  return {
    write: (text) => void parser.write(text),
    close() {
      parser.close();
      const response = child(child(root, 'Envelope'), 'Body')?.children[0];
      if (!response) throw new MalformedAnswer('XML', 'The answer has no SOAP body.');
      if (response.name !== 'Fault') return { response };
      return {
        fault: {
          code: localName(textOf(response, 'faultcode') ?? 'UNKNOWN'),
          message: textOf(response, 'faultstring') ?? '',
        },
      };
    },
  };
}

const elementOf = (name: string): XmlElement => ({ name, text: '', isNil: false, children: [] });
const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
const child = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((found) => found.name === name);

/** The first child of that name. */
export const childOf = (element: XmlElement, name: string): XmlElement | undefined => child(element, name);

/** Text of the first child of that name; null when there is none, or it is nil or empty. */
export function textOf(element: XmlElement, name: string): string | null {
  const found = child(element, name);
  const text = found?.isNil === false ? found.text.trim() : '';
  return text === '' ? null : text;
}

/** Texts of all children of that name. */
export const textsOf = (element: XmlElement, name: string): string[] =>
  element.children.filter((found) => found.name === name).map(({ text }) => text.trim());

const NAMESPACE = 'http://soap.sforce.com/2006/04/metadata';

/** A request of the Metadata interface. @param call its element, with its contents escaped by `xmlElement`. */
export const soapEnvelope = (accessToken: string, operation: string, contents: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?>' +
  `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns="${NAMESPACE}">` +
  `<soapenv:Header>${xmlElement('SessionHeader', xmlElement('sessionId', xmlText(accessToken)))}</soapenv:Header>` +
  `<soapenv:Body>${xmlElement(operation, contents)}</soapenv:Body></soapenv:Envelope>`;

/** @param contents are escaped already: elements, or `xmlText`. */
export const xmlElement = (name: string, contents: string): string => `<${name}>${contents}</${name}>`;
