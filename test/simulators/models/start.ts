import { parseArgs } from 'node:util';
import { MODEL_PROVIDERS } from '../../../domain/projects/integrations/model-provider-rules.ts';
import { untilStopped } from '../control-server.ts';
import { ACTIONS, modelControl } from './control.ts';
import { modelSimulator } from './simulator.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4020' }, control: { type: 'string', default: '0' } },
});
const models = await modelSimulator(Number(values.port));
const control = await modelControl(models, Number(values.control));

const integration = (provider: (typeof MODEL_PROVIDERS)[number]) => ({
  kind: 'ai-model',
  name: `Simulated ${provider}`,
  baseUrl: models.baseUrlOf(provider),
  settings: { provider, model: 'simulated', inputPrice: 2, outputPrice: 10, monthlyBudget: 5 },
  credentials: { type: 'token', token: models.apiKey },
});

process.stdout.write(
  [
    'This is a simulator of language models on this machine: no model answers, and its key opens nothing else.',
    '',
    ...MODEL_PROVIDERS.map((provider) => `POST /api/integrations ${JSON.stringify(integration(provider))}`),
    '',
    `Control: ${control.url}`,
    ...ACTIONS.map((action) => `  ${action}`),
    '',
  ].join('\n'),
);

untilStopped(() => {
  control.close();
  void models.close();
});
