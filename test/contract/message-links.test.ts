import { readFileSync } from 'node:fs';
import { routes } from '../../api/routes.ts';
import { EVENT_FAMILIES } from '../../domain/people/chat/event-family-rules.ts';

const links = Object.entries(EVENT_FAMILIES).flatMap(([family, { links: given = [] }]) =>
  given.map((link) => [family, link] as const),
);
/** Paths of the console's pages. */
const pages = Array.from(
  readFileSync(new URL('../../console/routes.tsx', import.meta.url), 'utf8').matchAll(/\bpage\('([^']+)'/g),
  ([, path = '']) => `/console${path.replaceAll(/\$\w+/g, '{}')}`,
);

const shapeOf = (path: string): string => (path.split('?')[0] ?? '').replaceAll(/\{\w+\}/g, '{}');

test.each(links)('the message about %s leads to %j, which there is', (_, link) => {
  if ('member' in link) return;
  const path = shapeOf('call' in link ? link.call : link.page);
  if (path.startsWith('/console/')) return expect(pages).toContain(path);
  const found = routes.find((route) => route.method === 'get' && shapeOf(route.path) === path);
  if ('call' in link) expect(found).toMatchObject({ group: link.group, operationId: link.operationId });
  else expect(found?.contentTypes).toContain('text/html');
});

test('some of them are of each kind', () => {
  const has = (kind: string) => links.some(([, link]) => kind in link);
  expect(['page', 'call', 'member'].filter((kind) => !has(kind))).toEqual([]);
});
