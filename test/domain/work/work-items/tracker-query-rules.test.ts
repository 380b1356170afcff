import fc from 'fast-check';
import {
  boardJql,
  boardsWiql,
  jqlText,
  projectsJql,
  wiqlText,
} from '../../../../domain/work/work-items/tracker-query-rules.ts';
import { parseJql } from '../../../simulators/trackers/jql.ts';
import { PROCESSES } from '../../../simulators/trackers/azure-processes.ts';
import { parseWiql } from '../../../simulators/trackers/wiql.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { codePoint } from '../../../support/code-points.ts';

const HOSTILE = [
  '" OR project = "SECRET',
  String.raw`\" OR project = \"SECRET`,
  '\\',
  "' OR [System.TeamProject] <> '",
  "''",
  '(",")',
  'a\nORDER BY created',
  'a\u0000b',
];

const conditionOf = (text: string) =>
  parseWiql(
    `SELECT [System.Id] FROM WorkItems WHERE [System.State] = ${wiqlText(text)} ORDER BY [System.ChangedDate] DESC`,
    {},
  );

test.each(HOSTILE)('the text %j stays one value in JQL and WIQL', (text) => {
  const plain = text.replaceAll(/\p{Cc}/gu, ' ');
  expect(parseJql(`status = ${jqlText(text)} ORDER BY updated DESC`)).toEqual({
    clauses: [{ field: 'status', operator: '=', values: [plain] }],
    isByUpdate: true,
  });
  expect(conditionOf(text).matches({ 'System.State': plain })).toBe(true);
  expect(conditionOf(text).matches({ 'System.State': 'another' })).toBe(false);
});

test('any text stays one value', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
      const plain = text.replaceAll(/\p{Cc}/gu, ' ');
      expect(parseJql(`status = ${jqlText(text)}`).clauses[0]?.values).toEqual([plain]);
      expect(conditionOf(text).matches({ 'System.State': plain })).toBe(true);
    }),
    propertyRuns(200, 500),
  );
});

const maxResults = 10;

test.each([
  [{}, [], 'updated >= "-365d" ORDER BY updated DESC'],
  [{}, ['SHOP', 'A"B'], String.raw`project in ("SHOP", "A\"B") ORDER BY updated DESC`],
  [
    { status: 'Open', type: 'Bug' },
    ['A'],
    'project in ("A") AND statusCategory != Done AND issuetype = "Bug" ORDER BY updated DESC',
  ],
  [{ status: 'closed' }, ['A'], 'project in ("A") AND statusCategory = Done ORDER BY updated DESC'],
  [
    { status: 'closed?', assignee: 'me' },
    ['A'],
    'project in ("A") AND status = "closed?" AND assignee = currentUser() ORDER BY updated DESC',
  ],
])('the filter %j in the projects %j is %s', (filter, projects, expected) => {
  expect(projectsJql({ ...filter, maxResults }, projects)).toBe(expected);
});

test('a board bounds its search itself', () => {
  expect(boardJql({ maxResults })).toBe('ORDER BY updated DESC');
  expect(boardJql({ maxResults, assignee: 'Ole' })).toBe('assignee = "Ole" ORDER BY updated DESC');
});

test('a category of states is asked for by type, since its states differ', () => {
  const types = Object.entries(PROCESSES.scrum).map(([name, states]) => ({ name, states }));
  const { matches } = parseWiql(boardsWiql({ maxResults, status: 'closed' }, ["a'b"], types), { '@project': 'shop' });
  const item = (type: string, state: string, area = "a'b\\c") =>
    matches({
      'System.TeamProject': 'shop',
      'System.WorkItemType': type,
      'System.State': state,
      'System.AreaPath': area,
    });
  expect([item('Task', 'Done'), item('Bug', 'Removed'), item('Task', 'To Do'), item('Task', 'Done', 'a')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(boardsWiql({ maxResults, status: 'open' }, [])).toContain("[System.WorkItemType] = ''");
});
