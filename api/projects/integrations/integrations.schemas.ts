import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { mapOf, trimmedText, valueOf } from '../../../domain/kernel/overrides/large-maps.ts';
import { INTEGRATION_KINDS } from '../../../domain/projects/integrations/integration-rules.ts';
import {
  CurrentVersion,
  Name,
  NAME_MAX,
  RepositoryIdentifier,
  Timestamp,
  WITHOUT_CONTROLS,
} from '../../http/parameters.ts';

/** Line breaks and other control characters could inject headers. */
const Secret = z.string().min(1).max(16_000).regex(WITHOUT_CONTROLS, 'must not contain control characters');

const PrivateKey = z
  .string()
  .max(16_000)
  .refine(isPrivateKey, 'must be an RSA key of 2,048 bits or more in PEM (PKCS #8)')
  .meta({
    description: 'Private key of an app of the CRM platform (`crm-app`), which signs requests for tokens by JWT',
  });

/** RS256 asks for keys of this length (RFC 7518, section 3.3). */
const MODULUS_BITS_MIN = 2_048;

function isPrivateKey(pem: string): boolean {
  if (!pem.startsWith('-----BEGIN PRIVATE KEY-----')) return false;
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPrivateKey(pem);
    return type === 'rsa' && (details?.modulusLength ?? 0) >= MODULUS_BITS_MIN;
  } catch {
    return false;
  }
}

/** More would not be read by anybody. */
const KEYS_MAX = 1_000;
const PackageKeys = mapOf(trimmedText(NAME_MAX), valueOf(Secret), {
  max: KEYS_MAX,
  message: `at most ${KEYS_MAX} keys`,
}).meta({
  description:
    'Installation keys of package versions (`package-keys`) by the id of the version (`04t…`) or its alias in `sfdx-project.json`; one for each dependency that has a key',
});

const Credentials = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('token'), token: Secret, username: Name.optional() }),
    z.strictObject({ type: z.literal('basic'), username: Name, password: Secret }),
    z.strictObject({ type: z.literal('private_key'), clientId: Name, privateKey: PrivateKey }),
    z.strictObject({ type: z.literal('keys'), keys: PackageKeys }),
  ])
  .meta({ description: 'Stored encrypted and never returned' });

const fields = {
  name: Name,
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .max(2_000)
    .nullable()
    .meta({
      description:
        'Base URL of the system; null: its public service. Of a language model with the interface of OpenAI the part before `/chat/completions`, of Anthropic before `/v1/messages`. To change it, send the credentials again',
    }),
  settings: mapOf(
    valueOf(z.string().min(1).max(NAME_MAX)),
    valueOf(z.union([z.string().max(2_000), z.number(), z.boolean()])),
    { max: 50, message: 'at most 50 members' },
  ).meta({
    description:
      'Other settings of the system, such as a model or a workspace; for work items of a project whose repository is elsewhere, host-a has `repository`, host-b `organization` and `project`; tracker-a has `cloudId` where bearers are used beside the API token of the site. A language model (`ai-model`, with a token) has `provider` (openai, for every server with its interface, or anthropic), `model`, `models` (others that may be asked for, separated by commas), `inputPrice`, `outputPrice`, `cacheReadPrice`, `cacheWritePrice` (USD per million tokens, of all these models), `monthlyBudget` (USD per month of UTC; needs prices) and `maxTokensPerReport` (input and output of all calls for a report; 200,000 when absent), and no others. Returned as they are, so no secrets',
  }),
  isActive: z.boolean(),
};

export const IntegrationIn = z.strictObject({
  kind: z.enum(INTEGRATION_KINDS),
  repositoryIdentifier: RepositoryIdentifier.nullable()
    .default(null)
    .meta({ description: 'The project that uses it; null: all projects without their own integration of this kind' }),
  name: fields.name,
  baseUrl: fields.baseUrl.default(null),
  settings: fields.settings.default({}),
  isActive: fields.isActive.default(true),
  credentials: Credentials,
});

export const IntegrationPatch = z
  .strictObject({
    ...fields,
    credentials: Credentials,
    version: CurrentVersion,
  })
  .partial();

export const Integration = z
  .object({
    id: z.uuid(),
    kind: z.enum(INTEGRATION_KINDS),
    repositoryIdentifier: z.string().nullable(),
    ...fields,
    credentialsUpdatedAt: Timestamp,
    version: z.int(),
    createdBy: z.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Integration' });
