import { routes } from '../../api/routes.ts';
import { EVENT_FAMILIES } from '../../domain/people/chat/event-family-rules.ts';

const links = Object.entries(EVENT_FAMILIES).flatMap(([family, { links: given = [] }]) =>
  given.map((link) => [family, link] as const),
);
const shapeOf = (path: string): string => (path.split('?')[0] ?? '').replaceAll(/\{\w+\}/g, '{}');

test.each(links)('the message about %s leads to %j, which there is', (_, link) => {
  if ('member' in link) return;
  const path = shapeOf('call' in link ? link.call : link.page);
  const found = routes.find((route) => route.method === 'get' && shapeOf(route.path) === path);
  if ('call' in link) expect(found).toMatchObject({ group: link.group, operationId: link.operationId });
  else expect(found?.contentTypes).toContain('text/html');
});

test('some of them are of each kind', () => {
  const has = (kind: string) => links.some(([, link]) => kind in link);
  expect(['page', 'call', 'member'].filter((kind) => !has(kind))).toEqual([]);
});
