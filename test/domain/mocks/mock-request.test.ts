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
