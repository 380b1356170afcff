import type { CrmAnswer, CrmCredential, CrmFailure, OrgAccess } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { orgFailure } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { type CrmCall, type CrmResponse, type CrmTimeouts, notJson, type SendCrm } from './crm-http.ts';
import { readJson } from '../outbound/outbound-http.ts';
import { withoutSecrets } from './crm-tokens.ts';

export interface RestCall {
  /** Below `/services/data/v<version>`, with query; or absolute: `/services/oauth2/…`. */
  path: string;
  isAbsolute?: boolean;
  /** GET without a body, POST with one, where it is not given. */
  method?: CrmCall['method'];
  body?: unknown;
  /** What the answers of several calls may have together; counted down. */
  budget?: { bytes: number };
}

export type RawCall = Omit<CrmCall, 'origin' | 'signal'>;

/** A credential with the version of the interface that its org is called with. */
export interface OpenSession extends CrmCredential {
  version: string;
}

export interface CrmSession {
  /** Executes one call; with a renewed credential once more, when the first was refused. */
  withCredential: <Value>(work: (session: OpenSession) => Promise<CrmAnswer<Value>>) => Promise<CrmAnswer<Value>>;
  /** One request without a repeat. The token goes along in the header only when `headers` say so. */
  send: <Value>(
    session: OpenSession,
    call: RawCall,
    read: (response: CrmResponse) => Promise<CrmAnswer<Value>>,
  ) => Promise<CrmAnswer<Value>>;
  /** One REST call without a repeat. */
  rest: (session: OpenSession, call: RestCall) => Promise<CrmAnswer<unknown>>;
  /** One REST call, repeated with a renewed credential. */
  call: (call: RestCall) => Promise<CrmAnswer<unknown>>;
}

interface SessionParts {
  send: SendCrm;
  apiVersion: (instanceUrl: string) => Promise<CrmAnswer<string>>;
  timeouts: CrmTimeouts;
  access: OrgAccess;
}

/** The credential is refused and another one may be taken; not so where the org itself is gone. */
const isSessionRefused = ({ kind, code }: CrmFailure): boolean => kind === 'auth_failed' && code !== 'HTTP_420';

/** Calls to one org with the credential of its token store. */
export function createCrmSession({ send: sendCrm, apiVersion, timeouts, access }: SessionParts): CrmSession {
  const { signal, onApiUsage, renew } = access;

  const send: CrmSession['send'] = (session, call, read) =>
    sendCrm({ ...call, origin: session.instanceUrl, signal }, (response) => {
      if (response.usage) onApiUsage?.(response.usage);
      return read(response);
    });

  const rest: CrmSession['rest'] = (session, { path, isAbsolute, method, body, budget }) =>
    send(
      session,
      {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        path: isAbsolute ? path : `/services/data/v${session.version}${path}`,
        headers: bearer(session, body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
        timeoutMs: timeouts.callMs,
        maxBytes: budget?.bytes,
      },
      (response) => readRest(response, session, budget),
    );

  const opened = async <Value>(
    { accessToken, instanceUrl }: CrmCredential,
    work: (session: OpenSession) => Promise<CrmAnswer<Value>>,
  ): Promise<CrmAnswer<Value>> => {
    const version = await apiVersion(instanceUrl);
    return version.isOk ? work({ accessToken, instanceUrl, version: version.value }) : version;
  };

  const withCredential: CrmSession['withCredential'] = async (work) => {
    signal?.throwIfAborted();
    const credential = await access.credential();
    if (!credential.isOk) return credential;
    const answer = await opened(credential.value, work);
    if (answer.isOk || !renew || !isSessionRefused(answer)) return answer;
    const renewed = await renew(credential.value);
    return renewed.isOk ? opened(renewed.value, work) : renewed;
  };

  return { withCredential, send, rest, call: (call) => withCredential((session) => rest(session, call)) };
}

/** Reads the answer to a REST call. */
export async function readRest(
  response: CrmResponse,
  credential: CrmCredential,
  budget?: RestCall['budget'],
): Promise<CrmAnswer<unknown>> {
  const { status, contentType, json, sizeBytes } = await readJson(response);
  if (budget) budget.bytes -= sizeBytes;
  if (status === 204) return { isOk: true, value: null };
  if (status >= 200 && status < 300) return json === undefined ? notJson({ contentType }) : { isOk: true, value: json };
  return restFailure(status, json, credential);
}

export const bearer = (
  { accessToken }: CrmCredential,
  headers: Record<string, string> = {},
): Record<string, string> => ({
  ...headers,
  authorization: `Bearer ${accessToken}`,
});

/** REST errors are lists, those of some other resources one object. */
function restFailure(status: number, json: unknown, { accessToken }: CrmCredential): CrmFailure {
  const first: unknown = Array.isArray(json) ? json[0] : json;
  const {
    errorCode,
    error,
    message,
    error_description: description,
  } = (typeof first === 'object' && first !== null ? first : {}) as Record<string, unknown>;
  const text = textOf(message) ?? textOf(description);
  return orgFailure({
    status,
    code: textOf(errorCode) ?? textOf(error),
    message: text && withoutSecrets(text, [accessToken]),
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
