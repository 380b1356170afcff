import { type FlowType, flowType } from '../../../../domain/delivery/flows/flow-types.ts';
import type { RunGates } from '../../../../domain/delivery/flows/gates/gate-rules.ts';
import {
  executorOf,
  waitsForNobody,
  whyUnavailable,
} from '../../../../domain/delivery/flows/programs/executor-rules.ts';

const all = { hasPipeline: true, hasCommand: true };
const own = { own: 'activity' } as const;

test.each([
  ['auto', all, 'cicd'],
  ['auto', { ...all, hasPipeline: false }, 'command'],
  ['auto', { hasPipeline: false, hasCommand: false }, 'activity'],
  ['pipeline', all, 'cicd'],
  ['pipeline', { ...all, hasPipeline: false }, undefined],
  ['command', all, 'command'],
  ['command', { ...all, hasCommand: false }, undefined],
  ['service', all, 'activity'],
] as const)('asked for %s with %j, a run is executed by %s', (wanted, means, executor) => {
  expect(executorOf(own, { ...means, wanted })).toBe(executor);
  if (wanted === 'auto') expect(executorOf(own, means)).toBe(executor);
});

test('a type that the service does not execute is executed by nothing where the service is asked for', () => {
  expect(executorOf({ own: undefined }, { ...all, wanted: 'service' })).toBeUndefined();
  expect(whyUnavailable('build', 'service')).toMatch(/The service itself does not execute build/);
});

const ungated: RunGates = { environmentIds: [], policies: [], lockIds: [], missing: [], isBeyondLimit: false };

test.each([
  ['analyze', true],
  ['create-patch-branch', true],
  ['build', true],
  ['request-elevated-privileges', false],
  ['request-sandbox-create', false],
  ['request-release', false],
])('a run of %s that no gate stands before is brief: %s', (id, isBrief) => {
  expect(waitsForNobody(flowType(id) as FlowType, ungated, {})).toBe(isBrief);
});
