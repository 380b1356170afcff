import { happeningEntry } from '../../../../domain/kernel/system/happening-log-rules.ts';
import { catalogNames, sampleData } from '../../../../domain/events/webhooks/event-catalog.ts';

const entryOf = (event: string, data: object = sampleData(event)) => happeningEntry({ event, data }, 'acme');

test('operators are told what was done, with ids and names', () => {
  expect(entryOf('flow.started')).toEqual({
    level: 'info',
    said: 'run began',
    members: {
      tenant: 'acme',
      run: '0195a3c1-7b1e-7c40-9d3e-5f1c2a9b8e10',
      type: 'release-to-environment',
      repository: 'acme/storefront',
      environment: 'production',
      by: 'dana@example.com',
    },
  });
  expect(entryOf('deployment.completed')?.members).toMatchObject({ release: '2026.03', status: 'Success' });
  expect(
    entryOf('flow.failed', { id: 'r1', taskType: 'build', status: 'Failed', error: 'why', startedBy: null }),
  ).toEqual({
    level: 'info',
    said: 'run ended',
    members: { tenant: 'acme', run: 'r1', type: 'build', status: 'Failed', reason: 'why' },
  });
});

test('what needs somebody is a warning, and no entry has the address of a receiver', () => {
  const entries = catalogNames.flatMap((event) => entryOf(event) ?? []);
  expect(entries.filter(({ level }) => level === 'warn').map(({ said }) => said)).toEqual([
    'chat workspace disconnected',
    'sign-in to an org failed',
    'webhook disabled',
  ]);
  expect(JSON.stringify(entries)).not.toContain('https://');
  expect(entryOf('document.updated')).toBeUndefined();
});
