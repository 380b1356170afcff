import { OperatorError } from '../operator-error.ts';

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
  /** An answer that is not JSON. */
  text: (path: string) => Promise<string>;
}

/** A request that was not what the service takes. */
class Refused extends OperatorError {
  readonly detail: string;

  constructor(request: string, status: number, detail: string) {
    super(`${request} was answered with ${status}: ${detail}`);
    this.detail = `${status}, ${detail}`;
  }
}

/** A client of a running service, signed in. Every refusal ends the demo with its problem. */
export async function demoClient(
  baseUrl: string,
  credentials: { email: string; password: string },
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
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
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
