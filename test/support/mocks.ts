import { request as send } from 'node:http';
import { type Json } from './client.ts';
import { type TestApp } from './app.ts';

let made = 0;

/** A workspace of mock scenarios of its own, with calls of its mock server. */
export function mockStage(app: TestApp, workspace = `workspace-${++made}`) {
  const root = `/api/mocks/workspaces/${encodeURIComponent(workspace)}/scenarios`;
  const member = app.as(app.member);
  const path = (name: string, rest = '') => `${root}/${encodeURIComponent(name)}${rest}`;
  let base = '';
  /** Path below `/mocks/`, with the key. */
  const mockPath = () => new URL(base).pathname;
  const call = async (method: string, target: string, options: MockOptions = {}) =>
    callMock(options.at ?? app.url, mockPath() + target, method, options);
  return {
    workspace,
    root,
    path,
    member,
    mockPath,
    call,
    get: (target: string, options?: MockOptions) => call('GET', target, options),
    /** Adds a scenario with these steps and arms it. */
    async armed(name: string, steps: object[], settings: object = {}): Promise<Json> {
      const scenario = await member.post(201, root, { name, steps, ...settings });
      base = scenario.baseUrl;
      await member.post(200, path(name, '/arm'));
      return scenario;
    },
    async made(body: object): Promise<Json> {
      const scenario = await member.post(201, root, body);
      base = scenario.baseUrl;
      return scenario;
    },
    use(baseUrl: string) {
      base = baseUrl;
    },
  };
}

export interface MockOptions {
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  run?: string;
  /** Another API process. */
  at?: string;
}

export interface MockReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  json: Json;
}

/** A call as any client would make it: each with a connection of its own, with headers and bytes as given. */
export function callMock(at: string, path: string, method: string, options: MockOptions): Promise<MockReply> {
  const { headers = {}, body, run } = options;
  return new Promise((resolve, reject) => {
    const outgoing = send(
      new URL(path, at),
      { method, agent: false, headers: { ...headers, ...(run !== undefined && { 'x-mock-run': run }) } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          const isJson = /json/.test(incoming.headers['content-type'] ?? '') && text !== '';
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            bytes,
            text,
            json: isJson ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** A step that answers a request with a text. */
export const step = (method: string, path: string, body: unknown, more: object = {}) => ({
  request: { method, path },
  response: { body },
  ...more,
});
