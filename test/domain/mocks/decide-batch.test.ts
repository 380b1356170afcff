import { compileStep } from '../../../domain/mocks/scenarios/compile-step.ts';
import { decideBatch } from '../../../domain/mocks/decide-batch.ts';
import { mockRequest } from '../../../domain/mocks/serving/mock-request.ts';
import { compileSteps } from '../../../domain/mocks/serving/replay.ts';
import type { RequestSchemas, Step } from '../../../domain/mocks/scenarios/step-rules.ts';

const step = (validates: RequestSchemas): Step => ({
  seq: 1,
  request: { method: 'GET', path: '/a' },
  response: { status: 200, validates },
  times: null,
});

async function decided(validates: RequestSchemas) {
  const runs = new Map([
    ['', { name: '', revision: 0, cursor: 0, hits: new Map(), variables: {}, matched: 0, unmatched: 0 }],
  ]);
  const scenario = { seed: 1, unmatched: 'not_found' } as Parameters<typeof decideBatch>[1]['scenario'];
  const known = {
    workspace: 'w',
    scenario,
    steps: await compileSteps('any', [step(validates)]),
    bodies: new Map(),
    runs,
  };
  const called = { request: mockRequest('GET', '/a?limit=x', {}, Buffer.alloc(0)), run: '' };
  return { ...(await decideBatch('tenant', known, [called])), called };
}

describe('a request that a step with schemas matches', () => {
  it('is refused, and does not use the step, where it breaks them', async () => {
    const { replies, changes, called } = await decided({
      query: { properties: { limit: { type: 'integer' } } },
      status: 422,
    });
    expect(replies.get(called)).toMatchObject({
      kind: 'refused',
      status: 422,
      fault: { pointer: '/query/limit', detail: 'must be integer' },
    });
    expect(changes.get('')).toMatchObject({ matched: 1, hits: {} });
  });

  it('is told when they cannot be used: they are not compiled before, since those of many steps would take seconds', async () => {
    const broken: RequestSchemas = { query: { type: 'nothing' } };
    expect(compileStep.problem(step(broken))).toBeUndefined();
    const { replies, called } = await decided(broken);
    expect(replies.get(called)).toMatchObject({ kind: 'unusable', reason: expect.stringContaining('cannot be used') });
  });
});
