import { createLanguageModels, type LanguageModels } from '../../../../activities/adapters/models/language-models.ts';
import type { ModelAnswer, ModelCall } from '../../../../domain/insight/language-models/language-model.port.ts';
import { MODEL_PROVIDERS } from '../../../../domain/projects/integrations/model-provider-rules.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { eventually } from '../../../support/eventually.ts';
import { type ModelSimulator, modelSimulator } from '../../../simulators/models/simulator.ts';

let simulator: ModelSimulator;
let models: LanguageModels;

beforeAll(async () => {
  simulator = await modelSimulator();
  models = createLanguageModels({ addresses: outboundAddresses('127.0.0.0/8'), callTimeoutMs: 60_000 });
});
afterAll(async () => {
  await models.close();
  await simulator.close();
});
beforeEach(() => simulator.reset());

const SCHEMA = {
  type: 'object',
  properties: { summary: { type: 'string', maxLength: 100 } },
  required: ['summary'],
  additionalProperties: false,
};

describe.each(MODEL_PROVIDERS)('%s', (provider) => {
  const ask = (call: Partial<ModelCall> = {}, access: object = {}, by = models): Promise<ModelAnswer> =>
    by.call(
      { provider, baseUrl: simulator.baseUrlOf(provider), apiKey: simulator.apiKey, ...access },
      {
        model: 'model-1',
        system: 'Write a report.',
        messages: [{ role: 'user', text: 'F1: three issues' }],
        schema: { name: 'report', schema: SCHEMA },
        maxOutputTokens: 1_000,
        signal: new AbortController().signal,
        onProgress: () => undefined,
        ...call,
      },
    );

  test('an answer comes with its tokens, and tells how far it is', async () => {
    const usage = { input: 120, output: 60, reasoning: 20, cacheRead: 40, cacheWrite: 0 };
    simulator.next({ kind: 'answer', text: `{"summary":"${'ok '.repeat(50)}"}`, usage });
    const progress: number[] = [];
    const answer = await ask({
      messages: [
        { role: 'user', text: 'F1' },
        { role: 'assistant', text: 'no' },
        { role: 'user', text: 'as JSON' },
      ],
      onProgress: (tokens) => progress.push(tokens),
    });
    expect(answer).toMatchObject({ kind: 'ok', text: `{"summary":"${'ok '.repeat(50)}"}`, usage });
    expect(progress.length).toBeGreaterThan(3);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(answer.receivedTokens).toBe(progress.at(-1));
    expect(simulator.requests).toMatchObject([
      {
        provider,
        model: 'model-1',
        system: 'Write a report.',
        messages: [{ role: 'user' }, { role: 'assistant', text: 'no' }, { role: 'user', text: 'as JSON' }],
        schema: { properties: { summary: { type: 'string' } } },
        maxTokens: 1_000,
      },
    ]);
    expect(JSON.stringify(simulator.requests[0]?.schema)).not.toContain('maxLength');
  });

  test.each([
    [
      { kind: 'limited', retryAfter: 2 },
      { kind: 'limited', retryAfterMs: 2_000 },
    ],
    [{ kind: 'limited' }, { kind: 'limited', retryAfterMs: null }],
    [{ kind: 'quota' }, { kind: 'quota' }],
    [{ kind: 'status', status: 408 }, { kind: 'unavailable' }],
    [{ kind: 'status', status: 409 }, { kind: 'unavailable' }],
    [{ kind: 'status', status: 500 }, { kind: 'unavailable' }],
    [{ kind: 'status', status: 529, code: 'overloaded_error' }, { kind: 'unavailable' }],
    [{ kind: 'status', status: 400 }, { kind: 'rejected' }],
    [{ kind: 'status', status: 404 }, { kind: 'rejected' }],
    [{ kind: 'status', status: 403 }, { kind: 'auth_failed' }],
    [{ kind: 'status', status: 302 }, { kind: 'malformed' }],
    [{ kind: 'html' }, { kind: 'malformed' }],
    [{ kind: 'broken' }, { kind: 'unavailable' }],
    [{ kind: 'silent' }, { kind: 'unavailable', receivedTokens: 0 }],
    [{ kind: 'error' }, { kind: 'unavailable' }],
    [{ kind: 'refusal' }, { kind: 'refused' }],
    [{ kind: 'length' }, { kind: 'length' }],
  ] as const)('%j is a failure of its kind', async (behavior, expected) => {
    simulator.next(behavior);
    const answer = await ask();
    expect(answer).toMatchObject(expected);
    expect(JSON.stringify(answer)).not.toContain(simulator.apiKey);
    const hasBegun = ['broken', 'error', 'length'].includes(behavior.kind);
    expect(answer.receivedTokens !== null && answer.receivedTokens > 0).toBe(
      hasBegun || (behavior.kind === 'refusal' && provider === 'openai'),
    );
    // The libraries try nothing again.
    expect(simulator.requests).toHaveLength(1);
  });

  test('a wrong key, and an address that is not permitted or not there, are failures', async () => {
    expect(await ask({}, { apiKey: 'wrong' })).toMatchObject({ kind: 'auth_failed' });
    expect(await ask({}, { baseUrl: 'http://10.1.2.3/v1' })).toMatchObject({
      kind: 'rejected',
      message: 'The address of the model is not permitted',
    });
    expect(await ask({}, { baseUrl: 'http://127.0.0.1:9/v1' })).toMatchObject({ kind: 'unavailable' });
  });

  test('an aborted call ends at once, and with it the stream', async () => {
    simulator.next({ kind: 'trickle', everyMs: 5 });
    const abort = new AbortController();
    const answer = await ask({
      signal: abort.signal,
      onProgress: (tokens) => {
        if (tokens > 5) abort.abort();
      },
    });
    expect(answer).toMatchObject({ kind: 'cancelled' });
    expect(answer.receivedTokens).toBeGreaterThan(5);
    await eventually(async () => simulator.aborted, Boolean);
  });

  test('a model that trickles for ever, or says nothing, is given up', async () => {
    const modelsFor = (seconds: number) =>
      createLanguageModels({ addresses: outboundAddresses('127.0.0.0/8'), callTimeoutMs: seconds * 1_000 });
    simulator.always({ kind: 'hang' });
    const hasty = modelsFor(0.3);
    expect(await ask({}, {}, hasty)).toMatchObject({ kind: 'timeout', receivedTokens: null });
    await hasty.close();
    simulator.always({ kind: 'trickle', everyMs: 5 });
    let received: number | null = null;
    // On a busy machine not even the first word may come within the first time-out.
    for (const seconds of [0.3, 3, 30]) {
      const limited = modelsFor(seconds);
      const answer = await ask({}, {}, limited);
      await limited.close();
      const message = `${provider} did not complete the answer in ${seconds} s`;
      expect(answer).toMatchObject({ kind: 'timeout', message });
      received = answer.receivedTokens;
      if (received) break;
    }
    expect(received).toBeGreaterThan(0);
  });

  test.each([
    [12.6, 13],
    [Number.NaN, undefined],
    [-1, undefined],
    [3e9, undefined],
  ])('tokens are whole numbers: %s of a server are %s', async (output, expected) => {
    simulator.next({ kind: 'answer', text: '{}', usage: { output } });
    const answer = await ask();
    expect(answer).toMatchObject({ kind: 'ok', text: '{}' });
    expect(answer.usage?.output).toBe(expected);
    expect(answer.receivedTokens).toBe(1);
  });

  test('headers, keys and addresses in the environment of the process are not used', async () => {
    const prefix = provider.toUpperCase();
    const given = { CUSTOM_HEADERS: 'Authorization: Bearer other', BASE_URL: 'http://10.1.2.3/', AUTH_TOKEN: 'other' };
    for (const [name, value] of Object.entries(given)) process.env[`${prefix}_${name}`] = value;
    try {
      expect(await ask()).toMatchObject({ kind: 'ok' });
      expect(process.env).toMatchObject({ [`${prefix}_CUSTOM_HEADERS`]: given.CUSTOM_HEADERS });
    } finally {
      for (const name of Object.keys(given)) delete process.env[`${prefix}_${name}`];
    }
  });

  test('a parameter is left out only for a server that does not know it, and remembered if that helped', async () => {
    const refused = (message: string) => ({ kind: 'status', status: 400, message }) as const;
    const named = provider === 'openai' ? 'response_format' : 'output_config';
    const model = 'picky';
    simulator.next(
      refused('max_completion_tokens is too large: 8000. This model supports at most 4096 completion tokens.'),
      refused(`Invalid schema for ${named}: json_schema has too many levels`),
    );
    for (let call = 0; call < 2; call++) expect(await ask({ model })).toMatchObject({ kind: 'rejected' });
    expect(simulator.requests).toHaveLength(2);
    simulator.next(refused(`Unknown parameter: '${named}'`), refused('Something else'));
    expect(await ask({ model })).toMatchObject({ kind: 'rejected' });
    expect(await ask({ model })).toMatchObject({ kind: 'ok' });
    const sent = simulator.requests.map((request) => [
      request.schema !== undefined,
      request.sent.includes('max_tokens'),
    ]);
    const isAnthropic = provider === 'anthropic';
    expect(sent).toEqual([true, true, true, false, true].map((hasSchema) => [hasSchema, isAnthropic]));
    // Found out and remembered, until it is refused for another reason.
    simulator.next(refused(`Unknown parameter: '${named}'`), { kind: 'answer' }, { kind: 'answer' }, refused('Other'));
    for (let call = 0; call < 4; call++) await ask({ model });
    expect(simulator.requests.slice(5).map(({ schema }) => schema !== undefined)).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
  });

  test('a server without newer parameters is asked without them, once found out', async () => {
    simulator.always({ kind: 'plain', text: '{}' });
    const baseUrl = simulator.baseUrlOf(provider);
    for (let round = 0; round < 2; round++) {
      const answer = await ask({ model: 'plain' }, { baseUrl });
      expect(answer).toMatchObject({ kind: 'ok', text: '{}' });
    }
    expect(simulator.requests).toHaveLength(2);
    expect(simulator.requests[1]).toMatchObject({
      schema: undefined,
      maxTokens: 1_000,
      system: expect.stringContaining('"summary"'),
    });
  });
});
