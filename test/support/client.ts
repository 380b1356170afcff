import assert from 'node:assert/strict';

/** What came back, parsed; tests read it freely. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
  text: string;
}

export interface RequestOptions {
  body?: unknown;
  /** Sent as it is instead of `body`. */
  rawBody?: string | Uint8Array;
  headers?: Record<string, string>;
}

/** Who sends: a bearer credential, or nobody. */
export interface Bearer {
  token?: string;
}

const isOfEvents = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;

/** A stream of events has no end: it is left after its first event. */
async function firstEvent({ body }: Response): Promise<string> {
  let text = '';
  for await (const piece of body ?? []) {
    text += Buffer.from(piece).toString();
    if (text.includes('\n\n')) break;
  }
  return text;
}

/** A client acting as somebody; every call names the status that it expects, and fails with the reply when it differs. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #token: string | undefined;
  readonly #onProblem: ((text: string) => void) | undefined;

  /** @param onProblem gets the body of every reply with a status from 400 on. */
  constructor(baseUrl: string, { token }: Bearer = {}, onProblem?: (text: string) => void) {
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#onProblem = onProblem;
  }

  get = async (status: number, path: string): Promise<Json> => (await this.request(status, 'GET', path)).body;
  delete = async (status: number, path: string, body?: unknown): Promise<Json> =>
    (await this.request(status, 'DELETE', path, { body })).body;
  post = async (status: number, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Json> =>
    (await this.request(status, 'POST', path, { body, headers })).body;
  put = async (status: number, path: string, body?: unknown): Promise<Json> =>
    (await this.request(status, 'PUT', path, { body })).body;
  patch = async (status: number, path: string, body?: unknown): Promise<Json> =>
    (await this.request(status, 'PATCH', path, { body })).body;

  /** Any method; answers headers and text, too. */
  async request(status: number, method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await this.send(method, path, options);
    assert.equal(answer.status, status, `${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 2_000)}`);
    return answer;
  }

  /** Whatever the status. */
  async send(method: string, path: string, { body, rawBody, headers = {} }: RequestOptions = {}): Promise<Answer> {
    const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.#baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent as string }),
    });
    const text = await (isOfEvents(response) ? firstEvent(response) : response.text());
    if (response.status >= 400) this.#onProblem?.(text);
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  }
}
