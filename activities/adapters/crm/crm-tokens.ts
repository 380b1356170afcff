import { importPKCS8, SignJWT } from 'jose';
import { z } from 'zod';
import type { CrmAnswer, CrmPlatform, JwtGrant, MintedToken } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { permittedOrigin } from '../../../domain/orgs/crm/org-origin.ts';
import { failure, malformed, tokenFailure } from '../../../domain/orgs/crm/platform-error-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { type CrmTimeouts, notJson, type SendCrm } from './crm-http.ts';
import { readJson } from '../outbound/outbound-http.ts';

const TOKEN_MAX_BYTES = 65_536;
/** The platform refuses assertions that are valid for more than some minutes. */
const ASSERTION_SECONDS = 180;

const Refusal = z.object({ error: z.string(), error_description: z.string().optional() });
const Tokens = z.object({
  access_token: z.string().min(1).max(4_000),
  instance_url: z.string(),
  refresh_token: z.string().min(1).max(4_000).optional(),
  id: z.string().optional(),
});

interface TokenParts {
  send: SendCrm;
  addresses: HostAddresses;
  timeouts: CrmTimeouts;
}

type TokenCalls = Pick<CrmPlatform, 'refresh' | 'exchangeCode' | 'mintByJwt' | 'revoke'>;

/** The platform's token endpoints (RFC 6749, RFC 7009, RFC 7523). */
export function createCrmTokens({ send, addresses, timeouts }: TokenParts): TokenCalls {
  const post = (origin: string, path: string, form: Record<string, string>) => ({
    method: 'POST' as const,
    origin,
    path: `/services/oauth2/${path}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
    timeoutMs: timeouts.callMs,
    maxBytes: TOKEN_MAX_BYTES,
  });

  const mint = (loginUrl: string, form: Record<string, string>): Promise<CrmAnswer<MintedToken>> =>
    send(post(loginUrl, 'token', form), async (response) => {
      const { status, contentType, json } = await readJson(response);
      if (status !== 200) return refusalOf(status, json, Object.values(form));
      const tokens = Tokens.safeParse(json);
      if (!tokens.success) return json === undefined ? notJson({ contentType }) : NO_TOKEN;
      const { access_token: accessToken, instance_url: instanceUrl, refresh_token: refreshToken, id } = tokens.data;
      // The org's own answer decides where tokens are sent to: it must not lead into our network.
      const permitted = permittedOrigin(instanceUrl, addresses);
      if (!permitted.isOk)
        return malformed('INSTANCE_URL_REFUSED', `The address of the org in its token reply ${permitted.reason}.`);
      const [, orgId, userId] = /\/id\/(\w{15,18})\/(\w{15,18})$/.exec(id ?? '') ?? [];
      return {
        isOk: true,
        value: {
          accessToken,
          instanceUrl: permitted.origin,
          refreshToken: refreshToken ?? null,
          orgId: orgId === undefined ? null : longId(orgId),
          userId: userId === undefined ? null : longId(userId),
        },
      };
    });

  return {
    refresh: ({ loginUrl, refreshToken, ...client }) =>
      mint(loginUrl, { grant_type: 'refresh_token', refresh_token: refreshToken, ...clientOf(client) }),

    exchangeCode: ({ loginUrl, code, redirectUri, ...client }) =>
      mint(loginUrl, { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...clientOf(client) }),

    async mintByJwt(grant) {
      const assertion = await assertionOf(grant).catch(() => undefined);
      if (assertion === undefined) return INVALID_KEY;
      return mint(grant.loginUrl, { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
    },

    revoke: ({ loginUrl, token }) =>
      send<null>(post(loginUrl, 'revoke', { token }), async (response) => {
        const { status, json } = await readJson(response);
        const refusal = Refusal.safeParse(json).data;
        const isUnknown = status === 400 && refusal?.error === 'invalid_token';
        return status === 200 || isUnknown ? { isOk: true, value: null } : refusalOf(status, json, [token]);
      }),
  };
}

const clientOf = ({ clientId, clientSecret }: { clientId: string; clientSecret: string }): Record<string, string> => ({
  client_id: clientId,
  ...(clientSecret !== '' && { client_secret: clientSecret }),
});

/** Whoever receives an assertion may redeem it at its audience, which is therefore the host that it is sent to. */
const assertionOf = async ({ clientId, username, loginUrl, privateKey }: JwtGrant): Promise<string> =>
  new SignJWT()
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(clientId)
    .setSubject(username)
    .setAudience(loginUrl)
    .setExpirationTime(`${ASSERTION_SECONDS}s`)
    .sign(await importPKCS8(privateKey, 'RS256'));

function refusalOf(status: number, json: unknown, secrets: readonly string[]) {
  const { error, error_description: description } = Refusal.safeParse(json).data ?? {};
  return tokenFailure({ status, code: error, message: description && withoutSecrets(description, secrets) });
}

/** A message in which none of the secrets can be read, should the platform repeat one. */
export const withoutSecrets = (message: string, secrets: readonly string[]): string =>
  secrets.reduce((text, secret) => (secret.length > 7 ? text.replaceAll(secret, '…') : text), message);

const NO_TOKEN = malformed('NO_TOKEN', 'The token reply has no access token or no address of the org.');
const INVALID_KEY = failure(
  'refused',
  'INVALID_KEY',
  'The private key cannot sign.',
  'Store the key of the app as PKCS #8 in PEM: RSA of 2,048 bits or more.',
);
