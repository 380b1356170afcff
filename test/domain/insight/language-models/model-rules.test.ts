import { strictSchema } from '../../../../domain/insight/language-models/answer-schema-rules.ts';
import {
  budgetRefusal,
  isNearBudget,
  monthOf,
  outputTokensLeft,
} from '../../../../domain/insight/language-models/budget-rules.ts';
import { readModelSettings } from '../../../../domain/projects/integrations/model-settings-rules.ts';
import {
  addUsage,
  costOf,
  highestCostOf,
  inputTokensAtMost,
  NO_USAGE,
} from '../../../../domain/projects/integrations/price-rules.ts';
import {
  CALLS_MAX,
  failureKindOf,
  retryAfterMsOf,
  waitBeforeRetry,
} from '../../../../domain/insight/language-models/retry-rules.ts';

const PRICES = { inputPrice: 2, outputPrice: 10, cacheReadPrice: 0.5, cacheWritePrice: 2.5 };
const WITHOUT_PRICES = { inputPrice: null, outputPrice: null, cacheReadPrice: null, cacheWritePrice: null };

test('settings are read with their defaults', () => {
  expect(readModelSettings({ provider: 'openai', model: 'gpt-5' })).toEqual({
    isOk: true,
    settings: {
      provider: 'openai',
      model: 'gpt-5',
      models: ['gpt-5'],
      ...WITHOUT_PRICES,
      monthlyBudget: null,
      maxTokensPerReport: 200_000,
    },
  });
  const read = readModelSettings({
    provider: 'anthropic',
    model: 'claude-a',
    models: 'claude-b, claude-a,claude-c',
    ...PRICES,
    monthlyBudget: 0,
    maxTokensPerReport: 5_000,
  });
  expect(read).toMatchObject({
    settings: { models: ['claude-a', 'claude-b', 'claude-c'], monthlyBudget: 0, maxTokensPerReport: 5_000, ...PRICES },
  });
});

test.each([
  ['provider', { provider: 'acme' }],
  ['model', { model: 'a model with spaces' }],
  ['models', { models: 'one,tw o' }],
  ['inputPrice', { inputPrice: -1, outputPrice: 1 }],
  ['inputPrice', { inputPrice: '2', outputPrice: 1 }],
  ['outputPrice', { inputPrice: 2 }],
  ['inputPrice', { outputPrice: 2 }],
  ['cacheReadPrice', { cacheReadPrice: Infinity }],
  ['monthlyBudget', { monthlyBudget: 10 }],
  ['maxTokensPerReport', { maxTokensPerReport: 12.5 }],
  ['temperature', { temperature: 1 }],
])('a wrong %s is named', (name, settings) => {
  const read = readModelSettings({ provider: 'openai', model: 'gpt-5', ...settings });
  expect(read).toMatchObject({ isOk: false, problems: expect.arrayContaining([expect.objectContaining({ name })]) });
});

test('tokens cost what the prices say', () => {
  const usage = { input: 1_000_000, output: 100_000, reasoning: 60_000, cacheRead: 200_000, cacheWrite: 400_000 };
  expect(costOf(usage, PRICES)).toBeCloseTo(2 + 1 + 0.1 + 1, 10);
  expect(costOf(usage, { ...PRICES, cacheReadPrice: null, cacheWritePrice: null })).toBeCloseTo(2 + 1 + 0.4 + 0.8, 10);
  expect(costOf(usage, WITHOUT_PRICES)).toBeNull();
  expect(costOf(NO_USAGE, PRICES)).toBe(0);
  expect(addUsage(usage, usage)).toEqual({
    input: 2_000_000,
    output: 200_000,
    reasoning: 120_000,
    cacheRead: 400_000,
    cacheWrite: 800_000,
  });
});

test('the estimate is above what a call may cost', () => {
  expect(highestCostOf({ inputTokens: 1_000_000, maxOutputTokens: 100_000 }, PRICES)).toBeCloseTo(2.5 + 1, 10);
  expect(highestCostOf({ inputTokens: 1_000, maxOutputTokens: 1_000 }, WITHOUT_PRICES)).toBe(0);
  const asked = { system: 'ab', messages: [{ role: 'user' as const, text: 'é'.repeat(100) }], schema: { schema: {} } };
  expect(inputTokensAtMost(asked)).toBe(102 + 100);
});

test('what waiting can cure is tried again, five times at most', () => {
  const unavailable = { kind: 'unavailable', retryAfterMs: null } as const;
  expect([1, 2, 3, 4, 5].map((calls) => waitBeforeRetry(unavailable, calls, 1))).toEqual([
    1_000,
    2_000,
    4_000,
    8_000,
    undefined,
  ]);
  expect(waitBeforeRetry(unavailable, 1, 0)).toBe(500);
  expect(waitBeforeRetry({ kind: 'limited', retryAfterMs: 7_000 }, CALLS_MAX - 1, 0)).toBe(7_000);
  expect(waitBeforeRetry({ kind: 'limited', retryAfterMs: 3_600_000 }, 1, 0)).toBeUndefined();
  for (const kind of ['timeout', 'quota', 'auth_failed', 'rejected', 'refused', 'length', 'malformed'] as const)
    expect(waitBeforeRetry({ kind, retryAfterMs: 1 }, 1, 0)).toBeUndefined();
});

test.each([
  [408, '', 'unavailable'],
  [409, '', 'unavailable'],
  [429, 'rate_limit_exceeded', 'limited'],
  [429, 'insufficient_quota', 'quota'],
  [500, '', 'unavailable'],
  [529, 'overloaded_error', 'unavailable'],
  [400, '', 'rejected'],
  [400, 'context_length_exceeded', 'length'],
  [401, '', 'auth_failed'],
  [402, 'billing_error', 'quota'],
  [403, '', 'auth_failed'],
  [404, 'model_not_found', 'rejected'],
  [302, '', 'malformed'],
  [undefined, 'rate_limit_error', 'limited'],
  [undefined, 'overloaded_error', 'unavailable'],
])('%s %s is %s', (status, code, kind) => {
  expect(failureKindOf(status, [code])).toBe(kind);
});

test('the time to wait is read in all its forms', () => {
  const now = Date.parse('2026-03-02T10:00:00Z');
  const of = (headers: Record<string, string>) => retryAfterMsOf((name) => headers[name] ?? null, now);
  expect(of({ 'retry-after': '2' })).toBe(2_000);
  expect(of({ 'retry-after': '0.5' })).toBe(500);
  expect(of({ 'retry-after': 'Mon, 02 Mar 2026 10:00:30 GMT' })).toBe(30_000);
  expect(of({ 'retry-after-ms': '750', 'retry-after': '1' })).toBe(750);
  expect(of({ 'retry-after': 'soon' })).toBeNull();
  expect(of({})).toBeNull();
});

test('a budget holds what is spent, what is reserved, and what a call may cost', () => {
  const state = { budget: 10, spent: 6, reserved: 3 };
  expect(budgetRefusal(state, 1)).toBeUndefined();
  expect(budgetRefusal(state, 1.01)).toBe(
    "The call may cost $1.01, and of the month's budget of $10.00, $6.00 are spent and $3.00 reserved",
  );
  expect(budgetRefusal({ budget: 0, spent: 0, reserved: 0 }, 0.000_1)).toMatch(/budget of \$0.00, \$0.00 are spent$/);
  expect(budgetRefusal({ budget: null, spent: 1e9, reserved: 0 }, 1e9)).toBeUndefined();
  expect(isNearBudget({ budget: 10, spent: 8 })).toBe(true);
  expect(isNearBudget({ budget: 10, spent: 7.99 })).toBe(false);
  expect(isNearBudget({ budget: null, spent: 8 })).toBe(false);
  expect(monthOf(new Date('2026-02-28T23:59:59.999Z'))).toBe('2026-02-01');
});

test('the calls of a report share its tokens', () => {
  const call = { inputTokens: 1_000, maxOutputTokens: 4_000 };
  expect(outputTokensLeft({ maxTokens: 10_000, usedTokens: 0 }, call)).toBe(4_000);
  expect(outputTokensLeft({ maxTokens: 10_000, usedTokens: 6_000 }, call)).toBe(3_000);
  expect(outputTokensLeft({ maxTokens: 10_000, usedTokens: 8_744 }, call)).toBe(256);
  expect(outputTokensLeft({ maxTokens: 10_000, usedTokens: 8_745 }, call)).toBeUndefined();
  expect(outputTokensLeft({ maxTokens: 2_000, usedTokens: 0 }, { ...call, maxOutputTokens: 100 })).toBe(100);
});

test('a schema becomes strict in all its parts', () => {
  const text = { type: 'string', minLength: 1, maxLength: 10, description: 'Text' };
  expect(
    strictSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        minLength: text,
        risks: { type: 'array', maxItems: 3, items: { type: 'object', properties: { text }, required: [] } },
        other: { anyOf: [{ type: 'null' }, { type: 'integer', minimum: 0 }] },
      },
    }),
  ).toEqual({
    type: 'object',
    properties: {
      minLength: { type: 'string', description: 'Text' },
      risks: {
        type: 'array',
        items: {
          type: 'object',
          properties: { text: { type: 'string', description: 'Text' } },
          required: ['text'],
          additionalProperties: false,
        },
      },
      other: { anyOf: [{ type: 'null' }, { type: 'integer' }] },
    },
    required: ['minLength', 'risks', 'other'],
    additionalProperties: false,
  });
});
