import {
  type CellState,
  columnsToAsk,
  COLUMNS_MAX,
  isNowhere,
  isRunId,
  listText,
  type Mark,
  marksOf,
  shownColumns,
  textsOf,
  TONES,
} from '../../../console/delivery/where/matrix-rules.ts';

const cells = (...states: CellState[]) =>
  states.map((state) => ({ environmentId: 'e', state, since: null, by: null, missingPackages: [] }));
const columns = (...names: string[]) =>
  names.map((name) => ({
    environmentId: name,
    name,
    category: 'release' as const,
    isLocked: false,
    heldBy: null,
    waitingLocks: 0,
    openApprovals: 0,
    frozenUntil: null,
    running: 0,
  }));
const environment = (name: string, after: string[] = [], isActive = true) => ({ name, isActive, promotion: { after } });
const THREE = columns('dev', 'uat', 'live');

test.each<[string, CellState[], Record<string, string[]>, Mark[]]>([
  ['nowhere yet', ['never', 'never', 'never'], {}, ['next', 'later', 'later']],
  ['in the first', ['deployed', 'never', 'never'], {}, ['here', 'next', 'later']],
  ['everywhere', ['installed_before', 'deployed', 'deployed'], {}, ['here', 'here', 'here']],
  ['one passed over', ['deployed', 'never', 'deployed'], {}, ['here', 'passed', 'here']],
  ['after what it lacks', ['deployed', 'never', 'never'], { live: ['uat'] }, ['here', 'next', 'blocked']],
  ['after what it has', ['never', 'deployed', 'never'], { live: ['uat'] }, ['passed', 'here', 'next']],
  ['several after the same', ['deployed', 'never', 'never'], { uat: ['dev'], live: ['dev'] }, ['here', 'next', 'next']],
  ['not taken there', ['deployed', 'not_taken', 'never'], {}, ['here', 'never', 'next']],
  ['failed there', ['deployed', 'failed', 'never'], {}, ['here', 'next', 'later']],
  ['on its way there', ['deployed', 'waiting_window', 'never'], {}, ['here', 'next', 'later']],
])('a release %s has its way marked', (_, states, after, marks) => {
  const policies = THREE.map(({ name }) => environment(name, after[name]));
  expect(marksOf(cells(...states), THREE, policies)).toEqual(marks);
});

test.each<[string, string[], Mark[] | undefined, number[]]>([
  ['no filter', [], undefined, [0, 1, 2]],
  ['one chosen', ['dev'], undefined, [0]],
  ['names that are not there', ['gone'], undefined, [0, 1, 2]],
  ['where a chosen release can go next', ['dev'], ['here', 'next', 'later'], [0, 1]],
  ['where a chosen release was passed over', ['live'], ['here', 'passed', 'here'], [1, 2]],
])('a filter never hides %s', (_, chosen, marks, shown) => {
  expect(shownColumns(THREE, chosen, marks)).toEqual(shown);
});

test.each<[string, string[], Mark[]]>([
  ['all that must come before are columns', ['uat'], ['here', 'next', 'blocked']],
  ['what must come before is no column', ['hidden'], ['here', 'next', 'later']],
  ['only some are columns', ['uat', 'hidden'], ['here', 'next', 'later']],
])('a release is blocked only by what is known: %s', (_, after, marks) => {
  const policies = [environment('dev'), environment('uat'), environment('live', after), environment('hidden')];
  expect(marksOf(cells('deployed', 'never', 'never'), THREE, policies)).toEqual(marks);
});

test('of many environments those are asked for where a release must be before, before those that follow', () => {
  const first = Array.from({ length: COLUMNS_MAX }, (_, index) => environment(`e${index}`));
  const many = [
    ...first,
    environment('gated', ['e7', 'e1', 'off']),
    environment('last'),
    environment('off', [], false),
  ];
  expect(columnsToAsk(many, ['gated'])).toEqual(['e1', 'e7', 'gated', 'last']);
  const all = first.slice(0, COLUMNS_MAX - 1).map(({ name }) => name);
  expect(columnsToAsk([...first, environment('z', ['e29']), environment('y')], [...all.slice(1), 'z'])).toContain(
    'e29',
  );
});

test('few environments are all asked for; of many those chosen with those that follow them', () => {
  const few = Array.from({ length: COLUMNS_MAX }, (_, index) => environment(`e${index}`));
  expect(columnsToAsk([...few, environment('off', [], false)], ['e1'])).toBeUndefined();
  const many = [...few, environment('after-e1', ['e1']), environment('last')];
  expect(columnsToAsk(many, [])).toEqual(few.map(({ name }) => name));
  expect(columnsToAsk(many, ['e1'])).toEqual(['e1', 'e2', 'after-e1']);
  expect(
    columnsToAsk(
      many,
      many.map(({ name }) => name),
    ),
  ).toHaveLength(COLUMNS_MAX);
});

test.each([[[]], [['sales']], [['a,b', 'c%2Cd', '100%']], [['élan', 'x y']]])(
  'texts %j survive an address',
  (texts) => {
    expect(textsOf(listText(texts))).toEqual(texts);
  },
);

test.each<[CellState[], boolean]>([
  [['never', 'not_taken'], true],
  [['never', 'held'], true],
  [['never', 'deployed'], false],
  [['waiting_approval', 'never'], false],
])('%j is nowhere: %s', (states, expected) => {
  expect(isNowhere({ cells: cells(...states) })).toBe(expected);
});

test('every state has a tone, and only runs of the service have pages', () => {
  expect(Object.values(TONES).every((tone) => ['good', 'busy', 'wait', 'bad', 'idle'].includes(tone))).toBe(true);
  expect(isRunId('01a2266c-9a8b-75e1-8c77-69177eb49bf3')).toBe(true);
  expect(isRunId('pipeline 4711')).toBe(false);
  expect(isRunId(undefined)).toBe(false);
});
