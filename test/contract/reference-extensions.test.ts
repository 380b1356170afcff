import { openApiDocument } from '../../api/http/openapi/openapi.ts';
import { routes } from '../../api/routes.ts';
import type { AnyRoute } from '../../api/http/define-route.ts';
import { ERROR_CODES, RESERVED_MEMBERS } from '../../domain/kernel/shared/errors.ts';
import type { Json } from '../support/client.ts';
import { nameOf } from './examples.ts';

const document = openApiDocument(routes, 'http://localhost', {}) as Json;
const operationOf = ({ path, method }: AnyRoute): Json => document.paths[path][method];
const table = routes.map((route) => [nameOf(route), route] as const);

test.each(table)('%s says who may call it, and what tokens that are limited to projects reach', (_, route) => {
  const operation = operationOf(route);
  expect(operation['x-roles']).toEqual(route.roles === 'public' ? ['public'] : route.roles);
  expect(operation['x-project-scope']).toBe(route.projectScope);
  // Who needs no credential is told no roles, and the other way round.
  expect(operation.security.length === 0).toBe(operation['x-roles'].includes('public'));
});

test('every member of a problem has a schema of its own', () => {
  const { schemas } = document.components;
  const members = Object.entries<Json>(schemas.Problem.properties);
  expect(members.map(([name]) => name)).toEqual(expect.arrayContaining([...RESERVED_MEMBERS]));
  for (const [name, schema] of members) {
    const id = `Problem${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    expect(schema).toEqual({ $ref: `#/components/schemas/${id}` });
    expect(schemas).toHaveProperty(id);
  }
  expect(schemas.ProblemCode.enum).toEqual(ERROR_CODES);
  for (const [list, element] of [
    ['ProblemErrors', 'FieldError'],
    ['ProblemResults', 'RefusedDocument'],
    ['ProblemCandidates', 'AmbiguousOrg'],
  ] as const)
    expect(schemas[list].items).toEqual({ $ref: `#/components/schemas/${element}` });
});
