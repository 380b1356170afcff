import { OperatorError } from '../operator-error.ts';
import { type DemoJournal, undosOf } from './journal.ts';

type Body = Record<string, unknown>;

export interface DemoClient {
  /** Header by which it is signed in. */
  authorization: string;
  get: (path: string) => Promise<Body>;
  post: (path: string, body: Body) => Promise<Body>;
  patch: (path: string, body: Body) => Promise<Body>;
  put: (path: string, body: Body) => Promise<Body>;
  delete: (path: string) => Promise<Body>;
  /** The reason for which a request is refused that must be; undefined when it is not. */
  refusal: (path: string, body: Body) => Promise<string | undefined>;
  /** How a request was refused; undefined when it was not. */
  attempt: (method: 'DELETE' | 'POST', path: string) => Promise<{ status: number; detail: string } | undefined>;
  /** An answer that is not JSON. */
  text: (path: string) => Promise<string>;
}

/** A request that was not what the service takes. */
class Refused extends OperatorError {
  readonly detail: string;
  readonly status: number;

  constructor(request: string, status: number, detail: string) {
    super(`${request} was answered with ${status}: ${detail}`);
    this.detail = `${status}, ${detail}`;
    this.status = status;
  }
}

/**
 * A client of a running service, signed in. Every refusal ends the demo with its problem.
 * @param journal notes what is made and not removed.
 */
export async function demoClient(
  baseUrl: string,
  credentials: { email: string; password: string },
  journal?: DemoJournal,
): Promise<DemoClient> {
  let token: string | undefined;
  const send = async (method: string, path: string, body?: Body): Promise<string> => {
    let response: Response;
    try {
      response = await fetch(baseUrl + path, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    } catch {
      throw new OperatorError(`Nothing answers at ${baseUrl}: start the service with npm start first.`);
    }
    const text = await response.text();
    if (response.ok) return text;
    throw new Refused(`${method} ${path}`, response.status, String((JSON.parse(text) as Body).detail));
  };
  const call = async (method: string, path: string, body?: Body): Promise<Body> =>
    JSON.parse((await send(method, path, body)) || '{}') as Body;
  token = (await call('POST', '/api/auth/admin/login', credentials)).access_token as string;
  return {
    authorization: `Bearer ${token}`,
    get: (path) => call('GET', path),
    async post(path, body) {
      const answer = await call('POST', path, body);
      for (const undo of undosOf(path, body, answer)) journal?.note(undo);
      return answer;
    },
    patch: (path, body) => call('PATCH', path, body),
    put: (path, body) => call('PUT', path, body),
    async delete(path) {
      const answer = await call('DELETE', path);
      journal?.forget({ method: 'DELETE', path });
      return answer;
    },
    async attempt(method, path) {
      try {
        await send(method, path, method === 'POST' ? {} : undefined);
        return undefined;
      } catch (error) {
        if (error instanceof Refused) return error;
        throw error;
      }
    },
    async refusal(path, body) {
      try {
        await send('POST', path, body);
        return undefined;
      } catch (error) {
        if (error instanceof Refused) return error.detail;
        throw error;
      }
    },
    text: (path) => send('GET', path),
  };
}
