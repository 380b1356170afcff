import { patternWork } from '../../../domain/events/webhooks/pattern-work.ts';
import { calledRequest } from '../../../domain/mocks/serving/called-request.ts';
import { mockRequest, valuesByName } from '../../../domain/mocks/serving/mock-request.ts';
import { threadCpuMs } from '../../support/thread-cpu.ts';

const form = (fields: string) =>
  mockRequest('POST', '/', { 'content-type': 'application/x-www-form-urlencoded' }, Buffer.from(fields));

test('a form whose fields have one name needs no time, and one of very many fields is a text', () => {
  const repeated = Array.from({ length: 200_000 }, (): [string, string] => ['a', '']);
  const single = repeated.map((_, at): [string, string] => [String(at), '']);
  expect(threadCpuMs(() => void valuesByName(repeated))).toBeLessThan(threadCpuMs(() => void valuesByName(single)) * 5);
  expect(
    valuesByName([
      ['a', '1'],
      ['a', '2'],
      ['a', '3'],
      ['b', '4'],
    ]),
  ).toEqual({ a: ['1', '2', '3'], b: '4' });
  expect(form('a=1&a=2').body.map).toEqual({ value: { a: ['1', '2'] } });
  expect(form('a&'.repeat(10_000)).body).toMatchObject({ text: expect.stringMatching(/^a&/), map: undefined });
});

const json = (text: string) => mockRequest('POST', '/', { 'content-type': 'application/json' }, Buffer.from(text));

test('the journal keeps of a large body its size alone, and has it read by nobody', () => {
  const request = json(`[${'{},'.repeat(10_000)}{}]`);
  Object.defineProperty(request, 'body', {
    get() {
      throw new Error('read');
    },
  });
  expect(calledRequest(request)).toEqual({ query: {}, headers: expect.anything(), bodyBytes: 30_004 });
});

test('JSON of too many values is not read, a test of it says so, and counting them used work', () => {
  const body = `[${'{},'.repeat(50_000)}{}]`;
  const work = patternWork(1_000_000);
  expect(() => work(() => json(body).body.map)).toThrow(
    'the JSON of its body has more than 50,000 values or 100 levels',
  );
  expect(work.used()).toBeGreaterThan(100_000);
  expect(json(body).body.map).toBeUndefined();
  expect(json(body).body.text).toBe(body);
  expect(json(`[${'{},'.repeat(49_000)}{}]`).body.map).toMatchObject({ values: 49_002 });
});

test('who may not have JSON read has used what it took to count its values', () => {
  const work = patternWork(200_000);
  expect(() => work(() => json(`[${'{},'.repeat(49_000)}{}]`).body.map)).toThrow('too much work');
  expect(work.used()).toBeGreaterThan(100_000);
});
