import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const APP = { clientId: 'the-app', clientSecret: 'its secret' };

export interface SimulatedAccount {
  id: number | string;
  login: string;
  emails: { email: string; verified: boolean; primary?: boolean }[];
}

export interface HostSimulator {
  url: string;
  tokenUrl: string;
  /** Accounts by the token that opens them. */
  accounts: Map<string, SimulatedAccount>;
  /** Refresh tokens that are good, each once. */
  refreshTokens: Set<string>;
  /** Requests that came: method, path and query. */
  asked: string[];
  /** What every request is answered from now on, whatever it asks; `hang`: never. */
  misbehave: (how: 'hang' | { status: number; body: string; headers?: Record<string, string> } | undefined) => void;
  close: () => Promise<void>;
}

interface HostRequest {
  path: string;
  query: URLSearchParams;
  token: string;
  headers: Record<string, string | string[] | undefined>;
  form: URLSearchParams;
}
interface HostAnswer {
  status: number;
  body: unknown;
}
type Behaviour = (request: HostRequest, host: HostSimulator) => HostAnswer;

/**
 * host-a by its published REST interface, version 2022-11-28: `GET /user`, `GET /user/emails` with pages, and the token
 * endpoint of its apps, which answers refusals with 200.
 */
export const hostASimulator = () => startHost('/login/oauth/access_token', answerAsHostA);

/** host-b by its published profile interface, version 7.1, and the token endpoint of its identity platform, version 2. */
export const hostBSimulator = () => startHost('/organizations/oauth2/v2.0/token', answerAsHostB);

function answerAsHostA(
  { path, query, token, headers, form }: HostRequest,
  { accounts, refreshTokens }: HostSimulator,
): HostAnswer {
  if (path === '/login/oauth/access_token') {
    if (form.get('client_id') !== APP.clientId || form.get('client_secret') !== APP.clientSecret) {
      return {
        status: 200,
        body: {
          error: 'incorrect_client_credentials',
          error_description: 'The client_id and/or client_secret passed are incorrect.',
        },
      };
    }
    if (form.get('grant_type') !== 'refresh_token' || !refreshTokens.delete(form.get('refresh_token') ?? '')) {
      return {
        status: 200,
        body: { error: 'bad_refresh_token', error_description: 'The refresh token passed is incorrect or expired.' },
      };
    }
    return {
      status: 200,
      body: {
        access_token: 'ghu_next',
        expires_in: 28_800,
        refresh_token: 'ghr_next',
        refresh_token_expires_in: 15_897_600,
        scope: '',
        token_type: 'bearer',
      },
    };
  }
  const account = accounts.get(token);
  if (!account)
    return { status: 401, body: { message: 'Bad credentials', documentation_url: 'https://docs.example/rest' } };
  if (!headers['user-agent']) return { status: 403, body: { message: 'Request forbidden by administrative rules.' } };
  if (path === '/user') return { status: 200, body: { id: account.id, login: account.login, type: 'User' } };
  if (path !== '/user/emails') return { status: 404, body: { message: 'Not Found' } };
  const [perPage, page] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)];
  const emails = account.emails.map((entry) => ({ primary: false, visibility: null, ...entry }));
  return { status: 200, body: emails.slice((page - 1) * perPage, page * perPage) };
}

function answerAsHostB(
  { path, query, token, form }: HostRequest,
  { accounts, refreshTokens }: HostSimulator,
): HostAnswer {
  if (path === '/organizations/oauth2/v2.0/token') {
    if (form.get('client_id') !== APP.clientId || form.get('client_secret') !== APP.clientSecret) {
      return {
        status: 401,
        body: {
          error: 'invalid_client',
          error_description: 'AADSTS7000215: Invalid client secret provided.',
          error_codes: [7_000_215],
        },
      };
    }
    if (form.get('grant_type') !== 'refresh_token' || !refreshTokens.delete(form.get('refresh_token') ?? '')) {
      return {
        status: 400,
        body: {
          error: 'invalid_grant',
          error_description: 'AADSTS70008: The refresh token has expired.',
          error_codes: [70_008],
        },
      };
    }
    return {
      status: 200,
      body: {
        token_type: 'Bearer',
        scope: 'user.read',
        expires_in: 3_599,
        ext_expires_in: 3_599,
        access_token: 'eyJ.next',
        refresh_token: 'M.next',
      },
    };
  }
  const account = accounts.get(token);
  if (path !== '/_apis/profile/profiles/me' || query.get('api-version') !== '7.1') return { status: 404, body: {} };
  if (!account) return { status: 401, body: {} };
  const { id, login, emails } = account;
  return {
    status: 200,
    body: {
      displayName: login,
      publicAlias: id,
      emailAddress: emails[0]?.email,
      coreRevision: 1,
      timeStamp: '2026-01-01T00:00:00Z',
      id,
      revision: 1,
    },
  };
}

async function startHost(tokenPath: string, behave: Behaviour): Promise<HostSimulator> {
  let misbehaviour: Parameters<HostSimulator['misbehave']>[0];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      host.asked.push(`${request.method} ${request.url}`);
      if (misbehaviour === 'hang') return;
      if (misbehaviour)
        return void response.writeHead(misbehaviour.status, misbehaviour.headers).end(misbehaviour.body);
      const { pathname: path, searchParams: query } = new URL(request.url ?? '', host.url);
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const { status, body } = behave({ path, query, token, headers: request.headers, form }, host);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host: HostSimulator = {
    url,
    tokenUrl: url + tokenPath,
    accounts: new Map(),
    refreshTokens: new Set(),
    asked: [],
    misbehave(how) {
      misbehaviour = how;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return host;
}
