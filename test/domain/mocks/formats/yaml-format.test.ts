import fc from 'fast-check';
import { FormatError, type Imported } from '../../../../domain/mocks/formats/imported.ts';
import { importYaml, yamlHead, yamlSteps } from '../../../../domain/mocks/formats/yaml-format.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { codePoint } from '../../../support/code-points.ts';

const written = ({ scenario, steps }: Pick<Imported, 'scenario' | 'steps'>): string =>
  [yamlHead(scenario), ...yamlSteps(steps)].join('');
const head = 'format: quayside-mock/1\n';

describe('the YAML of a scenario', () => {
  const full: Pick<Imported, 'scenario' | 'steps'> = {
    scenario: {
      description: 'Nightly release',
      mode: 'strict',
      seed: 7,
      upstream: 'https://example.com/base',
      unmatched: { status: 418, headers: { 'x-b': '1', 'x-a': ['2', '3'] }, body: { a: 1 } },
    },
    steps: [
      {
        seq: 1,
        request: {
          method: 'POST',
          path: '/orders/{id}',
          query: { z: '1', a: { regex: '^x' } },
          headers: { accept: 'application/json' },
          body: { amount: { gt: 3 }, lines: [{ sku: 'no' }] },
          exact: ['query'],
          requires: { state: 'open' },
          captures: { orderId: 'body.id' },
        },
        response: {
          status: 201,
          headers: { 'content-type': 'application/json' },
          body: '{"id": "{{ state.orderId }}"}',
          delayMs: { min: 1, max: 5 },
          throttle: 1000,
          fault: { kind: 'reset', probability: 0.5 },
          sets: { state: 'paid' },
          template: true,
        },
        times: 1,
      },
      { seq: 5, request: { method: '*', path: '/**' }, response: { status: 200, bodyBase64: 'AAE=' }, times: null },
      {
        seq: 6,
        request: { method: '*', path: '/a/{id}' },
        response: {
          status: 200,
          body: { id: 1 },
          echo: { id: 'path.id' },
          validates: { body: { $ref: '#/$defs/a' }, definitions: { a: { type: 'object' } }, requiresBody: true },
        },
        times: null,
      },
    ],
  };

  it('is read as what was written, and written again as the same bytes', () => {
    const imported = importYaml(written(full));
    expect(imported).toEqual({ ...full, notTaken: [] });
    expect(written(imported)).toBe(written(full));
  });

  it('gives the same bytes again for any texts and values in bodies', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: codePoint }), fc.jsonValue()),
        fc.dictionary(
          fc.string({ unit: codePoint }).filter((name) => name !== '__proto__'),
          fc.string(),
        ),
        (body, variables) => {
          const steps = [
            {
              seq: 1,
              request: { method: 'GET', path: '/', requires: variables },
              response: { status: 200, ...(body !== undefined && { body }) },
              times: null,
            },
          ];
          const text = written({ scenario: { mode: 'any' }, steps });
          expect(written(importYaml(text))).toBe(text);
        },
      ),
      propertyRuns(30, 100),
    );
  });

  it.each([
    'no\r\nway ',
    ' leading',
    'trailing  \n\n',
    '0x10',
    'null',
    '~',
    'yes',
    '2026-01-01',
    '- a',
    '---\nb',
    '# c',
    'a: b',
    '&a *a',
    '\u0085\u2028\uFEFF',
    '\t',
    '{{ now }}',
    '1e3',
    '.inf',
  ])('keeps the text %j', (text) => {
    const steps = [
      {
        seq: 1,
        request: { method: 'GET', path: '/', query: { q: text } },
        response: { status: 200, body: text },
        times: 1,
      },
    ];
    const { steps: read } = importYaml(written({ scenario: { mode: 'any' }, steps }));
    expect(read).toEqual(steps);
  });

  it('takes what people write, with defaults', () => {
    const { scenario, steps } = importYaml(
      `${head}steps:\n- response: {body: hello}\n- seq: 7\n  response: {}\n- response: {}\n`,
    );
    expect(scenario).toEqual({ mode: 'perEndpoint' });
    expect(steps.map(({ seq }) => seq)).toEqual([1, 7, 8]);
    expect(steps[0]).toEqual({
      seq: 1,
      request: { method: '*', path: '/**' },
      response: { status: 200, body: 'hello' },
      times: null,
    });
  });

  it('refuses a billion aliases at once', () => {
    const levels = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [index, name] of [...'bcdefghij'].entries()) {
      const before = 'abcdefghij'[index];
      levels.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`);
    }
    const cpuMs = threadCpuMs(() =>
      expect(() => importYaml(`${head}${levels.join('\n')}\n`)).toThrow('Aliases are not taken in YAML'),
    );
    expect(cpuMs).toBeLessThan(1_000);
  });

  it.each([
    ['nested too deep', '['.repeat(5_000), /nested too deep|cannot be read/],
    ['members nested too deep', `${head}steps: ${'['.repeat(250)}${']'.repeat(250)}`, 'nested too deep'],
    ['another tag', `${head}description: !!js/function "x"`, 'Unresolved tag'],
    ['no format', 'mode: any', '/format: must be quayside-mock/1'],
    ['a later format', 'format: quayside-mock/2', '/format: must be quayside-mock/1'],
    ['nothing', '', 'The scenario'],
    ['a text', 'hello', 'The scenario'],
    ['infinity', `${head}seed: .inf`, 'has no form in JSON'],
    ['a long number', `${head}steps: [{response: {body: {id: 9007199254740993}}}]`, 'has no form in JSON'],
    ['a repeated name', `${head}mode: any\nmode: strict`, 'The name mode is repeated'],
    ['an unknown member', `${head}modes: any`, 'The scenario'],
    ['an unknown member of a step', `${head}steps: [{answer: {}}]`, '/steps/0'],
    ['steps out of order', `${head}steps: [{seq: 2, response: {}}, {seq: 2, response: {}}]`, '/steps/1: seq'],
    ['a header with a line break', `${head}steps: [{response: {headers: {x-a: "a\\r\\nb: c"}}}]`, '/steps/0'],
    ['two documents', `${head}---\n${head}`, 'multiple documents'],
    ['not YAML', '{', 'cannot be read'],
    ['names that are lists', `${head}? [1]\n: 2`, 'must be texts'],
    ['a merge', `${head}steps:\n- response: {body: {<<: {a: 1}}}\n  <<: {}`, '/steps/0'],
  ])('refuses %s', (_what, content, message) => {
    expect(() => importYaml(content)).toThrow(FormatError);
    expect(() => importYaml(content)).toThrow(message);
  });

  it('keeps members that objects inherit as plain members', () => {
    const { steps } = importYaml(`${head}steps: [{response: {body: {__proto__: {a: 1}, constructor: 2}}}]`);
    expect(JSON.stringify(steps[0]?.response.body)).toBe('{"__proto__":{"a":1},"constructor":2}');
  });

  it('reads 10,000 names of one map in little time', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `k${index}: 1`).join('\n      ');
    const cpuMs = threadCpuMs(() => void importYaml(`${head}steps:\n- response:\n    body:\n      ${names}\n`));
    expect(cpuMs).toBeLessThan(3_000);
  });
});
