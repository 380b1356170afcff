import {
  type AuditEntry,
  canonicalJson,
  canonicalParts,
  hashedText,
  redact,
} from '../../../../domain/kernel/audit/audit-rules.ts';

test.each([
  [{ b: 1, a: [2, { d: null, c: 'x' }] }, '{"a":[2,{"c":"x","d":null}],"b":1}'],
  [{ '€': 1, '\r': 2, '1': 3, ö: 4 }, '{"\\r":2,"1":3,"ö":4,"€":1}'],
  [[1e21, 0.1, -0, 1e-7], '[1e+21,0.1,0,1e-7]'],
  [
    ['\u0000\u001f', '\u007f', '\\', '😀', '\ud800', '\u2028'],
    '["\\u0000\\u001f","\u007f","\\\\","😀","\\ud800","\u2028"]',
  ],
  [{ a: undefined, b: 'é\n"' }, '{"b":"é\\n\\""}'],
  [{ at: new Date(0), never: new Date(Number.NaN) }, '{"at":"1970-01-01T00:00:00.000Z","never":null}'],
])('%j in canonical form', (value, expected) => {
  expect(canonicalJson(value)).toBe(expected);
});

test('the parts around predecessor and sequence make the canonical entry', () => {
  const entry: AuditEntry = {
    id: 'i',
    sequence: 7,
    occurredAt: '2026-01-02T03:04:05.678Z',
    source: 'project',
    action: 'project.created',
    actor: { type: 'user', id: 'u', email: 'a@b.example' },
    repositoryIdentifier: null,
    entityType: 'project',
    entityId: null,
    summary: 'with "quotes"',
    before: null,
    after: { z: 1, a: 2 },
    requestId: null,
    prevHash: 'abc',
    hash: 'unused',
  };
  const { hash: _, ...hashed } = entry;
  const [head, middle, tail] = canonicalParts({ ...entry, before: 'null', after: '{"a":2,"z":1}' });
  expect(head + entry.prevHash + middle + entry.sequence + tail).toBe(canonicalJson(hashed));
  expect(hashedText(entry)).toBe(entry.prevHash + canonicalJson(hashed));
});

test('redaction takes the values of the named members at any depth and nothing else', () => {
  const state = { url: 'u', secret: 's', nested: [{ secret: { a: 1 }, kept: 'secret' }], at: new Date(0) };
  expect(redact(state, ['secret'])).toEqual({
    url: 'u',
    secret: '[redacted]',
    nested: [{ secret: '[redacted]', kept: 'secret' }],
    at: new Date(0),
  });
});
