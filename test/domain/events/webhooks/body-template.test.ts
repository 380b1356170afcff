import { compileTemplate, TemplateError } from '../../../../domain/events/webhooks/body-template.ts';

const envelope = {
  id: '1',
  type: 'release.published',
  data: {
    releaseName: '2026.03 "beta"',
    packages: { a: '1.0.0' },
    count: 2,
    none: null,
    'odd name': true,
    list: ['x'],
  },
};

test.each([
  ['plain', 'plain'],
  ['{{ type }}: {{data.releaseName}}', 'release.published: 2026.03 "beta"'],
  ['{"text": {{ data.releaseName | json }}}', '{"text": "2026.03 \\"beta\\""}'],
  ['{{ data.packages }}', '{"a":"1.0.0"}'],
  ['{{ data.count }} {{ data.none }}|{{ data.none | json }}', '2 |null'],
  ["{{ data['odd name'] }} {{ data.list[0] }} {{ data.list.0 }}", 'true x x'],
  ['a {{- type -}} b', 'arelease.publishedb'],
])('%s', (template, expected) => {
  expect(compileTemplate(template)(envelope)).toBe(expected);
});

test.each([
  '{{ data.missing }}',
  '{{ data.list.1 }}',
  '{{ data.constructor }}',
  '{{ data.list.length }}',
  '{{ missing }}',
])('unknown when filled: %s', (template) => {
  const render = compileTemplate(template);
  expect(() => render(envelope)).toThrow(new TemplateError(`unknown path ${template.slice(3, -3)}`));
});

test.each([
  '{% for x in data.list %}{{ x }}{% endfor %}',
  '{% include "x" %}',
  '{{ data.x | upcase }}',
  '{{ data.x | json: 2 }}',
  '{{ data[type] }}',
  '{{ "text" }}',
  '{{ 1 }}',
  '{{ (1..1000000) }}',
  '{{ a == b }}',
  '{{ a',
  '{{ }}',
  'x'.repeat(65_537),
])('refused: %.40s', (template) => {
  expect(() => compileTemplate(template)).toThrow(TemplateError);
});

test('a body that grows out of bounds is refused', () => {
  const render = compileTemplate('{{ data }}'.repeat(1_000));
  expect(() => render({ data: 'x'.repeat(100_000) })).toThrow(TemplateError);
});

test('a template has at most 1,000 places', () => {
  expect(compileTemplate('{{ id }}'.repeat(1_000))(envelope)).toBe('1'.repeat(1_000));
  expect(() => compileTemplate('{{ id }}'.repeat(1_001))).toThrow(TemplateError);
});
