import { type Config, ConfigError, parseSettings, SECRETS } from './config.ts';

/** The settings of a browser host. */
export type HostConfig = Config & { TOKEN_PUBLIC_KEYS: string };

/** Variables with secrets of the service, or with their files: all but the login of the database, which is a host's own. */
export const NOT_OF_HOSTS: readonly string[] = SECRETS.flatMap((name) =>
  name === 'DATABASE_URL' || name === 'TOKEN_PUBLIC_KEYS' ? [] : [name, `${name}_FILE`],
);

/**
 * Parses the environment of a browser host. It runs the pages of strangers, so it takes no secret of the service: whoever
 * got out of a browser could otherwise sign tokens, or read the credentials of all orgs. Throws `ConfigError`.
 */
export function parseHostConfig(env: Record<string, string | undefined>): HostConfig {
  const held = NOT_OF_HOSTS.filter((name) => (env[name] ?? '') !== '');
  if (held.length > 0) {
    throw new ConfigError(`A browser host takes no secret of the service: unset ${held.join(' and ')} for it.`);
  }
  const config = parseSettings(env);
  const { TOKEN_PUBLIC_KEYS } = config;
  if (TOKEN_PUBLIC_KEYS === undefined) {
    throw new ConfigError(
      'The environment variable TOKEN_PUBLIC_KEYS is missing: a browser host verifies tokens by it. `npm run token-public-keys` prints it.',
    );
  }
  return { ...config, TOKEN_PUBLIC_KEYS };
}
