import { createPublicKey } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { SimulatedOrg } from './org.ts';
import { json, type Reply, type SimulatedRequest } from './replies.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const refuse = (error: string, description: string): Reply => json(400, { error, error_description: description });

/** Token endpoint, revocation, user info, identity and front doors of an org; undefined for other paths. */
export async function oauth(org: SimulatedOrg, request: SimulatedRequest): Promise<Reply | undefined> {
  const { path, query, method, body } = request;
  if (path === '/services/oauth2/token' && method === 'POST') return tokenReply(org, new URLSearchParams(body));
  if (path === '/services/oauth2/revoke')
    return revoke(org, new URLSearchParams(body).get('token') ?? query.get('token') ?? '');
  if (path === '/secur/frontdoor.jsp') return enter(org, query);
  if (method === 'GET' && org.opened.has(path)) return page(signedIn(org, path));
  const isIdentity = path === `/id/${org.orgId}/${org.userId}`;
  if (!isIdentity && path !== '/services/oauth2/userinfo' && path !== '/services/oauth2/singleaccess') return undefined;

  const isSignedIn = org.sessions.has(request.bearer) && org.isUserActive;
  if (path === '/services/oauth2/singleaccess') {
    if (!org.hasFrontDoors)
      return { status: 404, contentType: 'text/html', body: '<html><body>URL No Longer Exists</body></html>' };
    if (!isSignedIn) return { status: 403, contentType: 'text/html', body: 'Bad_OAuth_Token' };
    return json(200, { frontdoor_uri: org.newDoor(query.get('redirect_uri') ?? '/') });
  }
  if (!isSignedIn) return { status: 403, contentType: 'text/html', body: 'Bad_OAuth_Token' };
  return json(200, {
    id: `${org.url}/id/${org.orgId}/${org.userId}`,
    user_id: org.userId,
    organization_id: org.orgId,
    // Not what people sign in with, on purpose: the platform's is not reliable either.
    preferred_username: `${org.name}-alias@example.com`,
    username: org.username,
    active: org.isUserActive,
    urls: { rest: `${org.url}/services/data/v{version}/` },
  });
}

async function tokenReply(org: SimulatedOrg, form: URLSearchParams): Promise<Reply> {
  const clientId = form.get('client_id') ?? '';
  const grant = form.get('grant_type');
  if (!org.isAppInstalled) return refuse('app_not_found', 'External client app is not installed in this org');
  if (grant === JWT_BEARER) return byJwt(org, form.get('assertion') ?? '');
  if (clientId === '') return refuse('invalid_client_id', 'client identifier invalid');
  if (grant === 'refresh_token') {
    const approval = org.approvals.find(({ refreshToken }) => refreshToken === form.get('refresh_token'));
    if (!approval) return refuse('invalid_grant', 'expired access/refresh token');
    if (approval.clientId !== clientId) return refuse('invalid_client', 'invalid client credentials');
    if (!org.isUserActive) return refuse('invalid_grant', 'authentication failure');
    if (!org.rotatesTokens) return session(org, clientId);
    org.approvals.splice(org.approvals.indexOf(approval), 1);
    return session(org, clientId, org.approve(clientId));
  }
  if (grant === 'authorization_code') {
    const code = form.get('code') ?? '';
    const known = org.codes.get(code);
    org.codes.delete(code);
    if (!known || known.clientId !== clientId) return refuse('invalid_grant', 'expired authorization code');
    if (known.redirectUri !== form.get('redirect_uri'))
      return refuse('redirect_uri_mismatch', 'redirect_uri must match configuration');
    return session(org, clientId, org.approve(clientId));
  }
  return refuse('unsupported_grant_type', 'grant type not supported');
}

async function byJwt(org: SimulatedOrg, assertion: string): Promise<Reply> {
  const [, claims = ''] = assertion.split('.');
  const clientId = String((JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as { iss?: unknown }).iss);
  const key = org.jwtApps.get(clientId);
  if (key === undefined) return refuse('invalid_client_id', 'client identifier invalid');
  try {
    const { payload } = await jwtVerify(assertion, createPublicKey(key));
    if (payload.aud !== org.url) return refuse('invalid_grant', 'Audience validation failed');
    if (payload.sub?.toLowerCase() !== org.username.toLowerCase())
      return refuse('invalid_grant', "user hasn't approved this consumer");
    return session(org, clientId);
  } catch {
    return refuse('invalid_grant', 'invalid assertion');
  }
}

function session(org: SimulatedOrg, clientId: string, refreshToken?: string): Reply {
  return json(200, {
    access_token: org.startSession(clientId),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    instance_url: org.claimedUrl ?? org.url,
    id: `${org.url}/id/${org.orgId}/${org.userId}`,
    token_type: 'Bearer',
    issued_at: String(Date.now()),
    signature: Buffer.from(org.name).toString('base64'),
    scope: 'refresh_token web api',
  });
}

function revoke(org: SimulatedOrg, token: string): Reply {
  const approval = org.approvals.find(({ refreshToken }) => refreshToken === token);
  if (approval) {
    org.approvals.splice(org.approvals.indexOf(approval), 1);
    for (const [accessToken, { clientId }] of org.sessions)
      if (clientId === approval.clientId) org.sessions.delete(accessToken);
  } else if (!org.sessions.delete(token)) return refuse('invalid_token', 'token not found');
  return { status: 200, contentType: 'text/plain', body: '' };
}

/** A browser comes: the page of the org, or its sign-in page when the door was opened before. */
function enter(org: SimulatedOrg, query: URLSearchParams): Reply {
  const key = query.get('otp');
  const path =
    key === null
      ? org.sessions.has(query.get('sid') ?? '')
        ? (query.get('retURL') ?? '/')
        : undefined
      : org.doors.get(key);
  if (key !== null) org.doors.delete(key);
  // As the platform's does, the door leads on to a page without the secret.
  if (path !== undefined) org.opened.add(new URL(path, org.url).pathname);
  return path === undefined
    ? page('Login: this front door is closed.')
    : page(`${signedIn(org, path)}<script>location.replace(${JSON.stringify(path)})</script>`);
}

const signedIn = (org: SimulatedOrg, path: string) => `Signed in to the simulated org ${org.name} at ${path}`;

const page = (text: string): Reply => ({
  status: 200,
  contentType: 'text/html',
  body: `<html><body>${text}</body></html>`,
});
