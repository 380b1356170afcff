import { type GateFacts, waitOf } from '../../../../domain/delivery/flows/run-wait-rules.ts';

const facts: GateFacts = {
  status: 'waiting_approval',
  waitsFor: 'uat is frozen until noon',
  nextWindowAt: '2026-03-02 12:00:00+00',
  approval: {
    approvers: ['kim@acme.example', 'leads'],
    minApprovals: 2,
    given: 1,
    expiresAt: '2026-03-09 09:00:00+00',
  },
  lock: { environmentName: 'uat', heldBy: 'dana@acme.example', expiresAt: '2026-03-02 09:30:00+00' },
};

test.each([
  [
    facts,
    {
      for: 'approval',
      who: ['kim@acme.example', 'leads'],
      reason: 'Approval by kim@acme.example, leads (1 of 2 given)',
      until: '2026-03-09T09:00:00.000Z',
    },
  ],
  [
    { ...facts, approval: { approvers: [], minApprovals: 1, given: 0, expiresAt: '2026-03-09 09:00:00+00' } },
    { for: 'approval', who: [], reason: 'Approval by the owners', until: '2026-03-09T09:00:00.000Z' },
  ],
  [
    { ...facts, status: 'waiting_window' as const },
    { for: 'window', who: [], reason: 'uat is frozen until noon', until: '2026-03-02T12:00:00.000Z' },
  ],
  [
    { ...facts, status: 'waiting_window' as const, waitsFor: null, nextWindowAt: null },
    { for: 'window', who: [], reason: 'A window of its environment', until: null },
  ],
  [
    { ...facts, status: 'waiting_lock' as const },
    {
      for: 'lock',
      who: ['dana@acme.example'],
      reason: 'The lock of uat, which dana@acme.example holds',
      until: '2026-03-02T09:30:00.000Z',
    },
  ],
  [
    { ...facts, status: 'waiting_lock' as const, lock: { environmentName: 'uat', heldBy: null, expiresAt: null } },
    { for: 'lock', who: [], reason: 'The lock of uat', until: null },
  ],
  [
    { ...facts, status: 'waiting_org_calls' as const, waitsFor: 'More than 90 % are used up', nextWindowAt: null },
    { for: 'org_calls', who: [], reason: 'More than 90 % are used up', until: null },
  ],
  [
    { ...facts, status: 'running' as const, waitsFor: 'Waits for run 1 in the same org' },
    { for: 'org', who: [], reason: 'Waits for run 1 in the same org', until: null },
  ],
])('%j', (known, wait) => {
  expect(waitOf(known)).toEqual(wait);
});

test.each(['dispatched', 'running', 'succeeded', 'cancelled'] as const)(
  'a run that is %s waits for nobody',
  (status) => {
    expect(waitOf({ ...facts, waitsFor: null, status })).toBeNull();
  },
);
