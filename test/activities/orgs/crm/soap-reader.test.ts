import { soapReader, textOf } from '../../../../activities/adapters/crm/crm-soap.ts';

function read(response: string) {
  const records: (string | null)[] = [];
  const reader = soapReader(new Set(['result']), (record) => records.push(textOf(record, 'name')));
  reader.write(`<Envelope><Body><listResponse>${response}</listResponse></Body></Envelope>`);
  return { end: reader.close(), records };
}

const RECORD = '<result><name>A</name></result>';

test('records are read one by one, and cost nothing once they are read', () => {
  const { end, records } = read(`${RECORD.repeat(60_000)}<done/>`);
  expect(records).toHaveLength(60_000);
  expect(end).toMatchObject({ response: { children: [{ name: 'done' }] } });
});

test.each([
  ['nested without end', '<a>'.repeat(40), 'nested too deeply'],
  ['a text without end', `<a>${'x'.repeat(1_048_577)}</a>`, 'too long'],
  ['a text without end, in pieces', `<a>${`${'x'.repeat(1_000)}<![CDATA[y]]>`.repeat(1_100)}</a>`, 'too long'],
  ['elements without end', '<a/>'.repeat(100_001), 'too many elements'],
  ['elements without end in a record', `<result>${'<a/>'.repeat(100_001)}</result>`, 'too many elements'],
  [
    'attributes without end',
    `<a ${Array.from({ length: 100_001 }, (_, n) => `b${n}=""`).join(' ')}/>`,
    'too many elements',
  ],
  ['records without end', '<result/>'.repeat(500_001), 'too many records'],
])('an answer is refused: %s', (_, response, message) => {
  expect(() => read(response)).toThrow(message);
});
