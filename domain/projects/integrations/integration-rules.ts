import { PROVIDER_URLS } from './model-provider-rules.ts';
import { readModelSettings, type SettingsProblem } from './model-settings-rules.ts';

/** The external systems that the service works with on behalf of a tenant. */
export const INTEGRATION_KINDS = [
  'host-a',
  'host-b',
  'host-c',
  'tracker-a',
  'crm-app',
  'package-keys',
  'browser',
  'ai-model',
  'metrics',
] as const;
export type IntegrationKind = (typeof INTEGRATION_KINDS)[number];

/** What a system needs to know beside credentials. */
export type IntegrationOptions = Record<string, string | number | boolean>;

/** How the service authenticates at an external system. */
export type HostCredentials =
  | { type: 'token'; token: string; username?: string | undefined }
  | { type: 'basic'; username: string; password: string };

/** An app of the CRM platform, which signs its requests. */
export interface AppCredentials {
  type: 'private_key';
  clientId: string;
  /** PKCS #8, PEM. */
  privateKey: string;
}

/** Installation keys of package versions, by the id (`04t…`) or alias of the version. */
export interface PackageKeys {
  type: 'keys';
  keys: Record<string, string>;
}

/** Kinds with credentials of a type of their own. */
interface OwnCredentials {
  'crm-app': AppCredentials;
  'package-keys': PackageKeys;
}
export type Credentials = HostCredentials | AppCredentials | PackageKeys;
export type CredentialsOf<Kind extends IntegrationKind> = Kind extends keyof OwnCredentials
  ? OwnCredentials[Kind]
  : HostCredentials;
/** Kinds of hosts that the service signs in to. */
export type HostKind = Exclude<IntegrationKind, keyof OwnCredentials>;

const OWN_TYPES: Partial<Record<IntegrationKind, Credentials['type']>> = {
  'crm-app': 'private_key',
  'package-keys': 'keys',
};

/** Why an integration of this kind cannot have these credentials. */
export function credentialsProblem(kind: IntegrationKind, { type }: Credentials): string | undefined {
  if (kind === 'ai-model' && type !== 'token') return 'an ai-model has a token';
  const own = OWN_TYPES[kind];
  if (own !== undefined) return type === own ? undefined : `a ${kind} has credentials of type ${own}`;
  const [owner] = Object.entries(OWN_TYPES).find(([, each]) => each === type) ?? [];
  return owner === undefined ? undefined : `only a ${owner} has credentials of type ${type}`;
}

/** The address that gets the credentials of an integration; null: the public service of its kind. */
export function recipientOf({
  kind,
  baseUrl,
  settings,
}: {
  kind: IntegrationKind;
  baseUrl: string | null;
  settings: IntegrationOptions;
}): string | null {
  if (baseUrl !== null || kind !== 'ai-model') return baseUrl;
  const read = readModelSettings(settings);
  return read.isOk ? PROVIDER_URLS[read.settings.provider] : null;
}

/** What is wrong with the settings of an integration; most kinds take any. */
export function settingsProblems(kind: IntegrationKind, settings: IntegrationOptions): readonly SettingsProblem[] {
  const read = kind === 'ai-model' ? readModelSettings(settings) : undefined;
  return read?.isOk === false ? read.problems : [];
}
