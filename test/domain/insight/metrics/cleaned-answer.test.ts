import { cleanedAnswer } from '../../../../domain/insight/metrics/cleaned-answer.ts';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function cleaned(given: string, size: number, isOfNames = false): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of cleanedAnswer(pieces(given, size), { maxBytes: Infinity, isOfNames })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test.each([1, 7, 64, 100_000])(
  'the tenant and what Prometheus has not are taken out, in pieces of %d bytes',
  async (size) => {
    const series = (metric: string) => `{"metric":{${metric}},"value":[1772443800,"3"]}`;
    const around = (items: string[], extra: [string, string]) =>
      `{"status":"success",${extra[0]}"data":{"resultType":"vector","result":[${items.join()}]}${extra[1]}}`;
    const text = '"x":"ü,\\"__tenant_id__\\":\\"t1\\"]}"';
    const given = around(
      [
        series('"__name__":"a","__tenant_id__":"t1","b":"c"'),
        series('"__tenant_id__":"t1"'),
        series('"__tenant_id__":"t\\"1","b":"c"'),
        series('"__tenant_id__":"t}]1","b":"c]"'),
        series(`${text},"__tenant_id__":"t1"`),
      ],
      ['"isPartial":false,', ',"stats":{"seriesFetched": "1","executionTimeMsec":0}'],
    );
    const expected = around(
      [series('"__name__":"a","b":"c"'), series(''), series('"b":"c"'), series('"b":"c]"'), series(text)],
      ['', ''],
    );
    expect(await cleaned(given, size)).toBe(expected);
  },
);

const list = (items: readonly string[]) => `{"status":"success","data":${JSON.stringify(items)}}`;

test.each([1, 100, 100_000])('of the names of labels the tenant is none, in pieces of %d bytes', async (size) => {
  const long = 'x'.repeat(700);
  const tenant = '__tenant_id__';
  for (const items of [[tenant], [tenant, long], [long, tenant], [`${long}","`, tenant, long], [`,"${tenant}"`]])
    expect(await cleaned(list(items), size, true)).toBe(list(items.filter((name) => name !== tenant)));
  // A value of another label may be anything.
  expect(await cleaned(list([tenant]), size)).toBe(list([tenant]));
});

test.each([
  ['a list of texts', (bytes: number) => list(Array.from({ length: bytes / 250 }, () => 'v'.repeat(247)))],
  ['one text', (bytes: number) => list(['"'.repeat(bytes / 2)])],
  [
    'a value of the tenant that a query wrote',
    (bytes: number) => `[{"__tenant_id__":"${'\\",}]'.repeat(bytes / 5)}"}]`,
  ],
  ['tenants', (bytes: number) => `[${'{"__tenant_id__":"1"},'.repeat(bytes / 22)}1]`],
])('%s twelve times as long takes some twelve times as long', async (_, textOf) => {
  const cpuOf = async (bytes: number) => {
    const text = textOf(bytes);
    const began = process.threadCpuUsage();
    await cleaned(text, 64 * 1024);
    const { user, system } = process.threadCpuUsage(began);
    return user + system;
  };
  // The least of three: the collector of garbage may run within any.
  const leastOf = async (bytes: number) => Math.min(await cpuOf(bytes), await cpuOf(bytes), await cpuOf(bytes));
  await cpuOf(500_000);
  const short = await leastOf(500_000);
  expect(await leastOf(6_000_000)).toBeLessThan(40 * Math.max(short, 2_000));
});

test('an answer that is too long is refused', async () => {
  const read = async () => {
    for await (const chunk of cleanedAnswer(pieces('x'.repeat(101), 10), { maxBytes: 100, isOfNames: false }))
      expect(chunk.length).toBeLessThanOrEqual(100);
  };
  await expect(read()).rejects.toThrow('the answer is larger than 100 bytes');
});
