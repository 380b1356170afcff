import { approvalMessage } from '../../../../domain/people/chat/approval-message-rules.ts';

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

const requested = { id: 'a1', taskType: 'execute-release', status: 'requested', requestedBy: 'dana@acme.example' };
const textOf = (more: object) => JSON.stringify(approvalMessage({ ...requested, ...more }, 'https://quayside.example'));

test('a request leads to its work item, and to the notes of its release', () => {
  const workItem = { key: 'SHOP-12', title: 'Install <shop>', url: 'https://acme.tracker.example/browse/SHOP-12' };
  const release = { repositoryIdentifier: 'acme/shop', domain: 'core', releaseName: '1.4', environmentName: 'prod' };
  const text = textOf({ workItem, ...release });
  expect(text).toContain('<https://acme.tracker.example/browse/SHOP-12|SHOP-12 Install &lt;shop&gt;>');
  expect(text).toContain(
    '<https://quayside.example/api/releases/1.4/notes?repositoryIdentifier=acme%2Fshop&domain=core&environmentName=prod&format=html|Release notes>',
  );
  expect(textOf({ ...release, environmentName: null })).toContain('domain=core&format=html|Release notes>');
  expect(textOf({ workItem: { ...workItem, url: null, title: null } })).toContain('*Work item*\\nSHOP-12');
  expect(textOf({ workItem: { ...workItem, url: `https://a.example/${'x'.repeat(2_000)}` } })).toContain(
    '*Work item*\\nSHOP-12 Install &lt;shop&gt;',
  );
});

test('an approval leads to where it is decided', () => {
  expect(textOf({})).toMatch(/<https:\/\/quayside\.example\/console\/inbox(\?project=[^|]+)?\|Details>/);
});
