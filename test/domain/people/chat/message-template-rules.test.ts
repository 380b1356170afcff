import { compileMessageTemplate } from '../../../../domain/people/chat/message-template.ts';
import { TemplateError } from '../../../../domain/events/webhooks/body-template.ts';
import { mentionsOf } from '../../../simulators/slack/message-limits.ts';

const rendered = (template: string, data: object = {}) => compileMessageTemplate(template)({ data });
const BUTTON = '{"type":"button","action_id":"approval.approve","value":"1"}';
const HOSTILE = [
  '\\u003c!channel\\u003e',
  '<!channel>',
  `x","blocks":[{"type":"actions","elements":[${BUTTON}]}],"z":"`,
  `{"text":"<!here>","blocks":[${BUTTON}]}`,
  '\\',
  '"',
  '{beta}',
  '\u2028\n\u0000',
];

test.each(HOSTILE)('the value %j stays text in a text and in JSON', (value) => {
  const dead = value.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  for (const template of ['{{ data.value }}', 'Note: {{ data.value }}', ' {{ data.value }} is out']) {
    const { text, blocks } = rendered(template, { value });
    expect(text).toBe(template.replace('{{ data.value }}', dead));
    expect(blocks).toMatchObject([{ type: 'section', text: { text, verbatim: true } }]);
  }
  for (const template of ['{"text": "{{ data.value }}"}', '{"text": {{ data.value }}}'])
    expect(rendered(template, { value })).toEqual({ text: dead, blocks: undefined });
  const { text } = rendered('{"text": "a \\" {{ data.value | json }}"}', { value });
  expect(text).toBe(`a " ${JSON.stringify(value).replaceAll('<', '&lt;').replaceAll('>', '&gt;')}`);
});

test('objects and lists of an event are text as well, numbers are numbers', () => {
  const blocks = [{ type: 'actions', elements: [JSON.parse(BUTTON)] }];
  const template = '{"text": {{ data.blocks | json }}, "blocks": [{"type": "divider", "n": {{ data.n | json }}}]}';
  expect(rendered(template, { blocks, n: 2 })).toEqual({
    text: JSON.stringify(blocks),
    blocks: [{ type: 'divider', n: 2 }],
  });
  expect(rendered('{"text": "a", "blocks": {{ data.blocks | json }}}', { blocks }).blocks).toEqual(expect.any(String));
});

test('what a template itself says is alive, names in its texts are not', () => {
  expect(rendered('Drill *{{ data.name }}* <!here>', { name: 'x' })).toMatchObject({ text: 'Drill *x* <!here>' });
  const { blocks } = rendered(
    '{"blocks": [{"type": "section", "text": {"type": "mrkdwn", "verbatim": false, "text": "{{ data.name }}"}}]}',
    { name: '#general @here' },
  );
  expect(mentionsOf('', blocks as Record<string, unknown>[])).toEqual([]);
  expect(rendered('{"text": "a", "channel": "C2"}')).toEqual({ text: 'a', blocks: undefined });
  expect(rendered('{{ data.name }}', { name: 'x'.repeat(20_000) }).text).toHaveLength(12_000);
});

test.each([
  ['{{ data.empty }}', /is empty/],
  ['  ', /is empty/],
  ['{"a": 1}', /neither text nor blocks/],
  ['{"text": "a" b}', /begins like JSON/],
  ['{ {{ data.name }}', /begins like JSON/],
  [`{"blocks": [{"type": "actions", "elements": [${BUTTON}]}]}`, /kept for messages about approvals/],
  ['{"blocks": [{"accessory": {"action_id": "{{ data.action }}"}}]}', /kept for messages about approvals/],
])('the template %s is no message', (template, problem) => {
  const render = () => rendered(template, { empty: '', name: 'x', action: 'approval.reject' });
  expect(render).toThrow(problem);
  expect(render).toThrow(TemplateError);
});
