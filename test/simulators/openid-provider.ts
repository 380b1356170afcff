import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type GenerateKeyPairResult, type JWK, SignJWT } from 'jose';
import { type AdapterFactory, type AdapterPayload, type Configuration, Provider } from 'oidc-provider';

export const AUDIENCE = 'https://quayside.test/api';
export const CLIENT = { id: 'quayside', secret: 'a secret of the client' };

export interface SimulatedPerson {
  email: string;
  emailVerified?: boolean;
}

export interface OpenIdSimulator {
  issuer: string;
  /** Requests that came, by path. */
  asked: string[];
  /** An access token that the provider itself issues (JWT profile, RFC 9068). */
  issue: (person: SimulatedPerson) => Promise<string>;
  /** A token like those, signed with the provider's present key and changed as given. */
  token: (
    person: SimulatedPerson,
    changes?: { claims?: Record<string, unknown>; expiresInSeconds?: number; header?: object },
  ) => Promise<string>;
  /** From now on the provider signs with a new key and publishes that one alone. */
  rotateKeys: () => Promise<void>;
  /** Who signs in next in the browser. */
  signInAs: (person: SimulatedPerson) => void;
  /** While true, the provider takes requests and answers none. */
  hang: (isHanging: boolean) => void;
  close: () => Promise<void>;
}

interface SigningKey {
  privateKey: GenerateKeyPairResult['privateKey'];
  jwk: JWK;
}

/**
 * A real OpenID provider, the package `oidc-provider`, on loopback. It asks nobody for a password: whoever comes with a
 * browser is the person set by `signInAs`.
 */
export async function openIdSimulator(redirectUri = 'http://127.0.0.1/unused'): Promise<OpenIdSimulator> {
  const asked: string[] = [];
  let isHanging = false;
  let person: SimulatedPerson = { email: 'nobody@example.com' };
  let key = await newKey();
  let provider: Provider;
  const server = createServer((request, response) => {
    asked.push((request.url ?? '').split('?')[0] ?? '');
    if (isHanging) return;
    if (!request.url?.startsWith('/sign-in/')) void provider.callback()(request, response);
    else void provider.interactionFinished(request, response, { login: { accountId: accountIdOf(person) } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const makeProvider = () => {
    provider = new Provider(
      issuer,
      configuration(key, redirectUri, () => person),
    );
  };
  makeProvider();

  return {
    issuer,
    asked,
    async issue(next) {
      person = next;
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          resource: AUDIENCE,
        }),
      });
      const body = (await response.json()) as { access_token: string };
      return body.access_token;
    },
    async token({ email, emailVerified = true }, { claims = {}, expiresInSeconds = 300, header = {} } = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const payload = {
        iss: issuer,
        aud: AUDIENCE,
        sub: `person:${email}`,
        email,
        email_verified: emailVerified,
        iat: now,
        exp: now + expiresInSeconds,
      };
      return new SignJWT({ ...payload, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid ?? '', typ: 'at+jwt', ...header })
        .sign(key.privateKey);
    },
    async rotateKeys() {
      key = await newKey();
      makeProvider();
    },
    signInAs(next) {
      person = next;
    },
    hang(next) {
      isHanging = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let made = 0;
async function newKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    privateKey,
    jwk: { ...(await exportJWK(privateKey)), kid: `simulated-${++made}`, use: 'sig', alg: 'RS256' },
  };
}

const configuration = ({ jwk }: SigningKey, redirectUri: string, person: () => SimulatedPerson): Configuration => ({
  adapter: storage(),
  clients: [
    {
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'client_credentials'],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  jwks: { keys: [jwk] },
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  // Claims go into the ID token, as most providers do it, instead of to the user-info endpoint alone.
  conformIdTokenClaims: false,
  ttl: { ClientCredentials: 600, AccessToken: 600, IdToken: 600, Grant: 600, Session: 600, Interaction: 600 },
  pkce: { required: () => true },
  cookies: { keys: ['for tests only'] },
  interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
  async loadExistingGrant({ oidc: { client, session, provider } }) {
    const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' });
    grant.addOIDCScope('openid email');
    await grant.save();
    return grant;
  },
  findAccount: () => {
    const { email, emailVerified = true } = person();
    return {
      accountId: accountIdOf(person()),
      claims: () => ({ sub: accountIdOf(person()), email, email_verified: emailVerified }),
    };
  },
  extraTokenClaims: () => ({ email: person().email, email_verified: person().emailVerified ?? true }),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ audience: AUDIENCE, scope: '', accessTokenFormat: 'jwt' }),
    },
  },
});

const accountIdOf = ({ email }: SimulatedPerson): string => `person:${email}`;

/** What the provider keeps of sign-ins under way, in memory. */
function storage(): AdapterFactory {
  const kept = new Map<string, AdapterPayload>();
  return (model) => {
    const find = async (id: string) => kept.get(`${model}:${id}`);
    return {
      find,
      upsert: async (id, payload) => void kept.set(`${model}:${id}`, payload),
      findByUid: async (uid) => [...kept.values()].find((payload) => payload.uid === uid),
      findByUserCode: async () => undefined,
      consume: async (id) => void Object.assign((await find(id)) ?? {}, { consumed: true }),
      destroy: async (id) => void kept.delete(`${model}:${id}`),
      revokeByGrantId: async () => undefined,
    };
  };
}
