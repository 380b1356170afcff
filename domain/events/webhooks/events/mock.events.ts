import { z } from 'zod';
import { dateTime, defineEvent, number, text } from './event-definition.ts';

const scenario = {
  workspace: text('Workspace of the scenario', 'checkout'),
  name: text('Name of the scenario', 'release/2026.03'),
};

export const mockEvents = {
  'mock_scenario.armed': defineEvent(
    'A mock scenario answers the requests to its workspace from now on',
    z.strictObject({
      ...scenario,
      mode: text('strict, perEndpoint or any', 'perEndpoint'),
      steps: number('Steps of the scenario', 42),
      armedUntil: dateTime('When it disarms itself'),
      armedBy: text('E-mail of the person, or name of the token, who armed it', 'dana@example.com'),
    }),
  ),
  'mock_scenario.disarmed': defineEvent(
    'A mock scenario answers no more requests',
    z.strictObject({
      ...scenario,
      reason: text('disarmed, stopped, replaced, deleted or expired', 'expired'),
      matched: number('Requests that a step answered since the last rewind', 310),
      unmatched: number('Requests that no step answered', 2),
    }),
  ),
  'mock_scenario.unmatched': defineEvent(
    'An armed mock scenario had no step for a request; at most once a minute',
    z.strictObject({
      ...scenario,
      run: text('Run as `X-Mock-Run` names it; empty without that header', ''),
      method: text('Method of the request', 'GET'),
      path: text('Path of the request, without its query', '/services/data/v64.0/limits'),
      unmatched: number('Requests of this run that no step answered since the last rewind', 1),
    }),
  ),
};
