import { type ControlRequest, type ControlServer, controlServer } from '../control-server.ts';
import { BEHAVIORS, type ModelBehavior } from './behaviors.ts';
import type { ModelSimulator } from './simulator.ts';

/** What the control address takes, for its own list of actions. */
export const ACTIONS = [
  'GET /                                    addresses, the key, and the requests so far',
  'POST /next {"kind": "limited", "retryAfter": 5}',
  'POST /always {"kind": "answer", "pauseMs": 200}',
  `    kinds: ${BEHAVIORS.join(' ')}`,
  '    (status with "status", "code" and "message"; answer with "text", "usage" and "pauseMs"; trickle with "everyMs")',
  'DELETE /                                 forgets requests and plans',
] as const;

/** Changes simulated models from outside, for `npm run model-simulator` and demonstrations. */
export const modelControl = (models: ModelSimulator, port = 0): Promise<ControlServer> =>
  controlServer((request) => act(models, request), port);

function act(models: ModelSimulator, { method, url, fields }: ControlRequest): unknown {
  const planned = () => {
    const behavior = fields() as unknown as ModelBehavior;
    if (!BEHAVIORS.includes(behavior.kind)) throw new Error(`kind must be one of ${BEHAVIORS.join(', ')}`);
    return behavior;
  };
  switch (`${method} ${url}`) {
    case 'GET /':
      return {
        isSimulator: true,
        baseUrls: { openai: models.baseUrlOf('openai'), anthropic: models.baseUrlOf('anthropic') },
        apiKey: models.apiKey,
        requests: models.requests,
        actions: ACTIONS,
      };
    case 'POST /next':
      models.next(planned());
      return {};
    case 'POST /always':
      models.always(planned());
      return {};
    case 'DELETE /':
      models.reset();
      return {};
    default:
      throw new Error(`${method} ${url} is none of:\n${ACTIONS.join('\n')}`);
  }
}
