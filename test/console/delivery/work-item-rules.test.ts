import { whereItIs } from '../../../console/delivery/work-items/work-item-rules.ts';
import { sentenceOf } from '../../../console/delivery/work-items/work-item-sentence.ts';

const NOW = Date.parse('2026-03-02T15:00:00Z');
type Places = Parameters<typeof whereItIs>[0];
type Domain = Places['domains'][number];
type Presence = Domain['environments'][number]['presence'];

/** A domain with its environments in order, those that arrived at that time of the day, and those that lack it. */
const domain = (
  name: string,
  environments: Record<string, Presence | `${number}:${number}`>,
  missingFromEnvironments: string[] = [],
  candidates: Domain['candidates'] = [],
): Domain => ({
  domain: name,
  missingFromEnvironments,
  candidates,
  environments: Object.entries(environments).map(([environment, given]) => ({
    name: environment,
    presence: given.includes(':') ? 'all' : (given as Presence),
    arrivedAt: given.includes(':') ? `2026-03-02T${given}:00.000Z` : null,
  })),
});
const candidate = (releaseName: string, presence: Presence, day: number) => ({
  releaseName,
  presence,
  createdAt: `2026-03-0${day}T00:00:00.000Z`,
});

test.each<[string, Domain[], number]>([
  ['P-1 is not known', [], 0],
  ['P-1 changes no package of a domain', [], 2],
  [
    'P-1 has been in UAT since 14:02, production lacks it',
    [domain('sales', { dev: '09:00', UAT: '14:02', production: 'none' }, ['production'])],
    1,
  ],
  [
    'P-1 has been in UAT since 14:02, production lacks domain sales',
    [
      domain('sales', { UAT: '14:02', production: 'none' }, ['production']),
      domain('service', { UAT: '13:00', production: '13:30' }),
    ],
    3,
  ],
  [
    'P-1 has been in UAT since 14:02, production lacks domains sales and service',
    [
      domain('sales', { UAT: '14:02', production: 'some' }, ['production']),
      domain('service', { UAT: '13:00', production: 'none' }, ['production']),
    ],
    3,
  ],
  ['P-1 has been in production since 14:30', [domain('sales', { UAT: '14:02', production: '14:30' })], 1],
  [
    'P-1 is in UAT in part, UAT lacks domain sales, production lacks it',
    [
      domain('sales', { UAT: 'some', production: 'none' }, ['UAT', 'production']),
      domain('service', { UAT: '13:00', production: 'none' }, ['production']),
    ],
    2,
  ],
  [
    'P-1 is in no environment yet, the newest candidate that has all of it is r2',
    [
      domain(
        'sales',
        { UAT: 'none' },
        ['UAT'],
        [candidate('r1', 'all', 1), candidate('r2', 'all', 2), candidate('r3', 'some', 3)],
      ),
    ],
    1,
  ],
  ['P-1 is in no environment yet', [domain('sales', { UAT: 'none' }, ['UAT'])], 1],
  [
    'P-1 has been in UAT since 14:02, of production it is not known',
    [domain('sales', { UAT: '14:02', production: 'unknown' })],
    1,
  ],
  ['P-1 is in UAT in part', [domain('sales', { UAT: '14:02' }), domain('service', {})], 1],
  ['P-1 is in UAT', [domain('sales', { UAT: 'all' })], 1],
])('%s', (sentence, domains, totalCommits) =>
  expect(sentenceOf('P-1', whereItIs({ totalCommits, domains }), NOW, 'UTC')).toBe(sentence),
);

test('a moment of another day has its day', () => {
  const [sales] = [domain('sales', { UAT: '14:02' })];
  const tomorrow = NOW + 86_400_000;
  expect(sentenceOf('P-1', whereItIs({ totalCommits: 1, domains: sales ? [sales] : [] }), tomorrow, 'UTC')).toBe(
    'P-1 has been in UAT since 2 Mar 2026, 14:02',
  );
});
