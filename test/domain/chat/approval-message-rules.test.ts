import { approvalMessage } from '../../../domain/chat/approval-message-rules.ts';

test('a request says what is approved: release, environment, org and packages', () => {
  const packages = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}`, `1.${n}`]));
  const text = JSON.stringify(
    approvalMessage(
      {
        id: 'a1',
        taskType: 'execute-release',
        environmentName: 'prod',
        releaseName: 'r1',
        orgUsername: 'admin@acme.example',
        packages,
        status: 'requested',
        requestedBy: 'dana@acme.example',
      },
      'https://quayside.example.com',
    ),
  );
  for (const part of ['execute-release of r1 in prod', 'admin@acme.example', 'p0 1.0, p1 1.1, p10 1.10', 'and 2 more'])
    expect(text).toContain(part);
});
