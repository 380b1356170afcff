import { PROVIDER_URLS } from './model-provider-rules.ts';
import { readModelSettings, type SettingsProblem } from './model-settings-rules.ts';

/** The external systems that the service works with on behalf of a tenant. */
export const INTEGRATION_KINDS = [
  'host-a',
  'host-b',
  'host-c',
  'tracker-a',
  'crm-app',
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

export type Credentials = HostCredentials | AppCredentials;
export type CredentialsOf<Kind extends IntegrationKind> = Kind extends 'crm-app' ? AppCredentials : HostCredentials;

/** Why an integration of this kind cannot have these credentials. */
export function credentialsProblem(kind: IntegrationKind, { type }: Credentials): string | undefined {
  if (kind === 'ai-model' && type !== 'token') return 'an ai-model has a token';
  if ((kind === 'crm-app') === (type === 'private_key')) return undefined;
  return kind === 'crm-app' ? 'a crm-app has a private_key' : 'only a crm-app has a private_key';
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
