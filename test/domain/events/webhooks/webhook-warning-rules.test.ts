import { catalogEntries, catalogNames } from '../../../../domain/events/webhooks/event-catalog.ts';
import { groupOf } from '../../../../domain/events/webhooks/subscription-rules.ts';
import { webhookWarnings } from '../../../../domain/events/webhooks/webhook-warning-rules.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const many = <T>(make: (index: number) => T, length: number): T[] => Array.from({ length }, (_, index) => make(index));
const envelope = ['id', 'type', 'timestamp'].map((path) => ({ path, type: 'string' }));
const CATALOG = [
  {
    event: 'release.published',
    fields: [...envelope, { path: 'data.releaseName', type: 'string' }, { path: 'data.packages', type: 'object' }],
  },
  { event: 'release.created', fields: [...envelope, { path: 'data.environmentName', type: 'string | null' }] },
  { event: 'user.created', fields: [...envelope, { path: 'data.email', type: 'string' }] },
];

const warningsOf = (events: string[], filter: object = {}, templatePaths: string[][] = []) =>
  webhookWarnings({ events, filter: { ...filter }, templatePaths }, CATALOG, ['push']).map(
    ({ code, pointer, message }) => `${code} ${pointer} ${message}`,
  );

test.each<[string[], object, string[][], string[]]>([
  [['release.published'], { 'data.releaseName': 'a', type: 'b' }, [['data', 'packages', 'core'], ['data']], []],
  [['release.*'], { 'data.environmentName': 'a', 'data.releaseName': 'b' }, [], []],
  [['push'], { 'data.ref': 'a' }, [['data', 'anything']], []],
  [
    ['relase.published', 'release.created'],
    {},
    [],
    ['unknown_event #/events/0 The service emits no event relase.published; did you mean release.published?'],
  ],
  [['relaese.*'], {}, [], ['unknown_event #/events/0 The service emits no event relaese.*; did you mean release.*?']],
  [['orders.made'], {}, [], ['unknown_event #/events/0 The service emits no event orders.made']],
  [
    ['release.published'],
    { 'data.relaseName': 'a' },
    [['data', 'releaseName', 'deeper']],
    [
      'unknown_path #/config/filter/data.relaseName No event to which the webhook subscribes has data.relaseName; did you mean data.releaseName?',
      'unknown_path #/config/body No event to which the webhook subscribes has data.releaseName.deeper; did you mean data.releaseName?',
    ],
  ],
  [
    ['user.created', 'release.created'],
    { 'data.releaseName': 'a' },
    [],
    ['unknown_path #/config/filter/data.releaseName No event to which the webhook subscribes has data.releaseName'],
  ],
  [
    ['push'],
    { 'payload.x': 'a' },
    [],
    ['unknown_path #/config/filter/payload.x No event to which the webhook subscribes has payload.x'],
  ],
])('%j %j %j', (events, filter, templatePaths, expected) => {
  expect(warningsOf(events, filter, templatePaths)).toEqual(expected);
});

test('suggestions of many unknown names are found at once', () => {
  const none = { filter: {}, templatePaths: [] };
  const unknownEvents = { ...none, events: many((index) => `release_candidate.finalizd${index}`, 100) };
  const unknownPaths = {
    events: [...new Set(catalogNames.map(groupOf))],
    filter: Object.fromEntries(many((index) => [`data.someUnknownMember.named${index}`, 'x'], 20)),
    templatePaths: many((index) => ['data', `unknownMemberOfALongName${index}`, 'another'], 400),
  };
  const cpuMs = threadCpuMs(() => {
    expect(webhookWarnings(unknownEvents, catalogEntries)).toHaveLength(20);
    expect(webhookWarnings(unknownPaths, catalogEntries)).toHaveLength(40);
  });
  expect(cpuMs).toBeLessThan(200);
});

test('at most twenty of a kind, however long the template', () => {
  const paths = Array.from({ length: 1_000 }, (_, index) => ['data', `unknown${index}`]);
  const cpuMs = threadCpuMs(() => expect(warningsOf(['release.published'], {}, paths)).toHaveLength(20));
  expect(cpuMs).toBeLessThan(500);
});
