import { type Config, parseConfig, publicUrlOf } from '../domain/kernel/settings/config.ts';

export type ApiConfig = Config & { publicUrl: string };

/** The settings of an API process. Throws `ConfigError`, whose message names the variable. */
export function apiConfig(env: NodeJS.ProcessEnv): ApiConfig {
  const config = parseConfig(env);
  return { ...config, publicUrl: publicUrlOf(config) };
}
