import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { usableIntegration } from '../../projects/integrations/integrations.queries.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';
import { type ModelSettings, readModelSettings } from '../../projects/integrations/model-settings-rules.ts';

/** A model of a project's integration, else of the tenant's. */
export interface ConfiguredModel {
  integrationId: string;
  /** Name of the integration, as people call it. */
  name: string;
  /** Project that the integration is for; null: it is for the tenant. */
  repositoryIdentifier: string | null;
  /** One of `settings.models`. */
  model: string;
  settings: ModelSettings;
}

export interface WantedModel {
  projectId: string;
  /** Undefined: that of the integration. */
  provider?: string | undefined;
  /** Undefined: the first of the integration. */
  model?: string | undefined;
}

/** The model that a request means. Throws `invalid_request`, which says what is missing or wrong. */
export async function modelInRequest(
  reads: Reads,
  { projectId, provider, model }: WantedModel,
): Promise<ConfiguredModel> {
  const integration = await usableIntegration(reads, 'ai-model', projectId);
  if (!integration)
    throw new DomainError(
      'invalid_request',
      'No language model is configured: the project or the tenant needs an active integration of kind ai-model',
    );
  const read = readModelSettings(integration.settings);
  if (!read.isOk) {
    const [{ name, detail } = { name: 'settings', detail: 'are missing' }] = read.problems;
    throw new DomainError(
      'invalid_request',
      `The integration ${integration.name} of kind ai-model cannot be used: ${name} ${detail}`,
    );
  }
  const { settings } = read;
  if (provider !== undefined && provider !== settings.provider)
    throw invalidField('provider', `the integration of kind ai-model is for the provider ${settings.provider}`);
  if (model !== undefined && !settings.models.includes(model))
    throw invalidField('model', `is not a model of the integration${didYouMean(model, settings.models)}`);
  const { id, name, repositoryIdentifier } = integration;
  return { integrationId: id, name, repositoryIdentifier, model: model ?? settings.model, settings };
}
