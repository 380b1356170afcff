import { driftBetween, isAskable } from '../../../domain/mocks/drift/drift-rules.ts';

const json = (value: unknown, more: { status?: number; contentType?: string } = {}) => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  json: { value },
  ...more,
});

describe('what differs between two answers', () => {
  it.each([
    ['values alone', json({ a: 1, b: ['x'] }), json({ a: 2, b: ['y', 'z'] }), []],
    ['status', json({}), json({}, { status: 404 }), [{ kind: 'status', was: 200, is: 404 }]],
    [
      'type',
      json({}),
      json({}, { contentType: 'text/html' }),
      [{ kind: 'content_type', was: 'application/json', is: 'text/html' }],
    ],
    ['a member less', json({ a: { b: 1 } }), json({ a: {} }), [{ kind: 'missing', path: '$.a.b', type: 'number' }]],
    ['a member more', json({ a: 1 }), json({ a: 1, b: '' }), [{ kind: 'added', path: '$.b', type: 'string' }]],
    [
      'a part less is one change',
      json({ a: { b: { c: 1 } } }),
      json({}),
      [{ kind: 'missing', path: '$.a', type: 'object' }],
    ],
    [
      'another type',
      json([{ id: 1 }]),
      json([{ id: '1' }]),
      [{ kind: 'type', path: '$[].id', was: 'number', is: 'string' }],
    ],
    ['null may be anything', json({ a: null }), json({ a: { b: 1 } }), []],
    ['an empty list says nothing', json({ a: [{ b: 1 }] }), json({ a: [] }), []],
  ])('%s', (_what, was, is, changes) => {
    expect(driftBetween(was, is)).toEqual(changes);
  });
});

it.each([
  [{}, true],
  [{ query: { page: '2' } }, true],
  [{ method: 'POST' }, false],
  [{ path: '/a/{id}' }, false],
  [{ query: { page: { gt: 2 } } }, false],
  [{ headers: { accept: 'text/plain' } }, false],
  [{ checks: [{ of: 'headers' as const, name: 'prefer', is: { eq: 'code=404' } }] }, false],
  [{ requires: { state: 'open' } }, false],
])('an upstream is asked for a step by its address alone: %j', (request, expected) => {
  expect(isAskable({ method: 'GET', path: '/a', ...request })).toBe(expected);
});
