import { mockRequest } from '../../../domain/mocks/serving/mock-request.ts';
import type { JsonSchema } from '../../../domain/mocks/scenarios/step-rules.ts';
import { compileSchemas } from '../../../domain/mocks/validate-request.ts';
import { PatternWorkError, withPatternWork } from '../../../domain/events/webhooks/pattern-work.ts';

const WORK = 2_000_000;
const validated = (schema: JsonSchema, body: unknown, definitions: Record<string, JsonSchema> = {}) => {
  const validate = compileSchemas({ body: schema, definitions });
  return withPatternWork(WORK, () => validate(mockRequest('POST', '/', {}, Buffer.from(JSON.stringify(body))), {}));
};

describe('schemas of a step', () => {
  it('are cut where they take too much work, however they multiply it', () => {
    const definitions: Record<string, JsonSchema> = { d60: false };
    for (let at = 0; at < 60; at++)
      definitions[`d${at}`] = { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] };
    expect(() => validated({ $ref: '#/$defs/d0' }, {}, definitions)).toThrow('too much work');
    expect(() => validated({ $ref: '#/$defs/a' }, {}, { a: { $ref: '#/$defs/a' } })).toThrow('without end');
    const alike = Array.from({ length: 3_000 }, (_, at) => ({ text: 'a'.repeat(500), at }));
    expect(() => validated({ type: 'array', uniqueItems: true }, alike)).toThrow('too much work');
    expect(validated({ type: 'array', uniqueItems: true }, alike.slice(0, 50))).toBeUndefined();
  });

  it('take the work of compiling from the budget', () => {
    const schema = { enum: Array.from({ length: 1_000 }, (_, at) => at) };
    expect(() => withPatternWork(100_000, () => compileSchemas({ body: schema }))).toThrow('too much work');
  });

  it('take the work of compiling patterns from the budget, too, which is no fault of theirs', () => {
    const patterns = Array.from({ length: 12 }, (_, at) => [`p${at}`, { pattern: `^(?:[a-z]{1,40}-${at}){1,20}$` }]);
    const schemas = { body: { properties: Object.fromEntries(patterns) as Record<string, JsonSchema> } };
    expect(() => withPatternWork(100_000, () => compileSchemas(schemas))).toThrow(PatternWorkError);
    expect(() => compileSchemas(schemas)).not.toThrow();
  });

  it.each<[JsonSchema, string]>([
    [{ type: 'string', pattern: '(?=a)' }, 'cannot be used'],
    [{ type: 'nothing' }, 'cannot be used'],
    [{ $ref: '#/$defs/gone' }, 'cannot be used'],
    [{ enum: ['a'.repeat(13_000)] }, 'at most 12 KB'],
    [Array.from({ length: 200 }).reduce<JsonSchema>((inner) => ({ not: inner }), true), 'deeper than'],
  ])('are refused: %j', (schema, message) => {
    expect(() => compileSchemas({ body: schema })).toThrow(message);
  });

  it('match patterns in linear time, and pass texts that are too long to be searched', () => {
    const schema = { type: 'string', pattern: '^(a|a)*$' };
    expect(validated(schema, 'aab')).toEqual({ pointer: '/body', detail: expect.stringContaining('pattern') });
    expect(validated(schema, `${'a'.repeat(5_000)}b`)).toBeUndefined();
  });

  it('leave the request as it was, though its texts are read as other types', () => {
    const validate = compileSchemas({ query: { properties: { limit: { type: 'integer' } } } });
    const called = mockRequest('GET', '/?limit=3', {}, Buffer.alloc(0));
    expect(validate(called, {})).toBeUndefined();
    expect(called.query).toEqual({ limit: '3' });
  });
});
