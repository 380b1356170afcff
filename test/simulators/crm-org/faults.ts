import type { ServerResponse } from 'node:http';
import type { HostileZip } from './zip.ts';

/**
 * What an org does instead of answering. `unauthorized` and the like answer as the interface does that was called: REST
 * or SOAP. `zip` and `doctype` change what the Metadata interface answers; `reply` answers what it says, an object as JSON.
 * `lost` does what was asked for, and breaks the connection off instead of answering.
 */
export type Fault =
  | {
      kind:
        | 'hang'
        | 'drip'
        | 'drop'
        | 'lost'
        | 'html'
        | 'html-503'
        | 'unauthorized'
        | 'forbidden'
        | 'gone'
        | 'used-up'
        | 'redirect'
        | 'error'
        | 'doctype'
        | 'endless';
    }
  | { kind: 'zip'; zip: HostileZip | Buffer }
  | { kind: 'reply'; status: number; body: string | object };
export type FaultKind = Fault['kind'];

export interface FaultRule {
  fault: Fault;
  /** How often it still happens. */
  times: number;
  /** Which requests it happens to. */
  path: RegExp;
  /** Operation of the Metadata interface; undefined: all. */
  operation: string | undefined;
}

const PAGE =
  '<!DOCTYPE html><html><head><title>Maintenance</title></head><body>We are down for maintenance.</body></html>';
const DRIP_MS = 100;

/** Executes a fault on a response; false for one that happens as the request is answered. */
export function carryOut(
  fault: Fault,
  response: ServerResponse,
  { isSoap, elsewhere }: { isSoap: boolean; elsewhere: string },
): boolean {
  const refuse = (status: number, errorCode: string, message: string) => {
    if (isSoap)
      response.writeHead(500, { 'content-type': 'text/xml; charset=UTF-8' }).end(soapFault(errorCode, message));
    else
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify([{ errorCode, message }]));
    return true;
  };
  switch (fault.kind) {
    case 'hang':
      return true;
    case 'drop':
      response.socket?.destroy();
      return true;
    case 'drip':
      drip(response, isSoap ? 'text/xml' : 'application/json');
      return true;
    case 'endless':
      endless(response);
      return true;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8' }).end(PAGE);
      return true;
    case 'html-503':
      response.writeHead(503, { 'content-type': 'text/html; charset=UTF-8' }).end(PAGE);
      return true;
    case 'redirect':
      response.writeHead(302, { location: elsewhere }).end();
      return true;
    case 'gone':
      response
        .writeHead(420, { 'content-type': 'text/html' })
        .end('<html><body>This org does not exist.</body></html>');
      return true;
    case 'forbidden':
      response.writeHead(403, { 'content-type': 'text/html' }).end('Forbidden');
      return true;
    case 'unauthorized':
      return refuse(401, 'INVALID_SESSION_ID', 'Session expired or invalid');
    case 'used-up':
      return refuse(403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.');
    case 'error':
      response
        .writeHead(500, { 'content-type': 'application/json' })
        .end(JSON.stringify([{ errorCode: 'UNKNOWN_EXCEPTION', message: 'An unexpected error occurred.' }]));
      return true;
    case 'reply': {
      const { status, body } = fault;
      response
        .writeHead(status, { 'content-type': isSoap ? 'text/xml' : 'application/json' })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
      return true;
    }
    case 'doctype':
    case 'lost':
    case 'zip':
      return false;
  }
}

/** One byte at a time, without end. */
function drip(response: ServerResponse, contentType: string): void {
  response.writeHead(200, { 'content-type': contentType });
  const timer = setInterval(() => response.write(' '), DRIP_MS);
  response.on('close', () => clearInterval(timer));
}

/** As fast as it is read, without end. */
function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const block = Buffer.alloc(1_048_576, ' ');
  const write = () => {
    if (response.destroyed) return;
    if (response.write(block)) setImmediate(write);
    else response.once('drain', write);
  };
  write();
}

export const soapFault = (code: string, message: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:sf="http://soap.sforce.com/2006/04/metadata">' +
  `<soapenv:Body><soapenv:Fault><faultcode>sf:${code}</faultcode><faultstring>${code}: ${message}</faultstring></soapenv:Fault></soapenv:Body></soapenv:Envelope>`;

/** An entity that doubles itself thirty times. */
export const DTD_BOMB =
  '<?xml version="1.0"?><!DOCTYPE bomb [<!ENTITY a0 "boom">' +
  Array.from({ length: 30 }, (_, index) => `<!ENTITY a${index + 1} "&a${index};&a${index};">`).join('') +
  ']><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>&a30;</soapenv:Body></soapenv:Envelope>';
