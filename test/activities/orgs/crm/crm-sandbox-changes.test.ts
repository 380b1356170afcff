import { accessTo, failureOf, simulatedPlatform, valueOf } from '../../../support/crm.ts';

const given = simulatedPlatform();
const opened = () => {
  const simulated = given.crm.org('acme');
  const { copies } = simulated;
  return { copies, simulated, org: given.platform.org(accessTo(given.platform, simulated)) };
};
const DAY_MS = 86_400_000;

test('a sandbox is created, followed, activated, refreshed as it was defined, and deleted', async () => {
  const { org, copies } = opened();
  const activationGroupId = copies.addGroup('Testers');
  const order = { name: 'qa', licenseType: 'DEVELOPER_PRO', activationGroupId, description: 'For QA' };
  const { sandboxInfoId } = valueOf(await org.createSandbox({ ...order, isAutoActivated: false, features: ['A'] }));
  expect(copies.ledger).toEqual([
    {
      act: 'create',
      name: 'qa',
      fields: {
        SandboxName: 'qa',
        LicenseType: 'DEVELOPER_PRO',
        Description: 'For QA',
        ActivationUserGroupId: activationGroupId,
        AutoActivate: false,
        Features: '["A"]',
      },
    },
  ]);
  copies.progress('qa', null, 'Sampling');
  const [copy] = valueOf(await org.sandboxCopies({ name: 'QA' }));
  expect(copy).toMatchObject({ sandboxInfoId, licenseType: 'DEVELOPER_PRO', stage: 'copying', progress: null });
  const id = String(copy?.id);
  await copies.finish('qa');
  expect(valueOf(await org.sandboxCopies({ id }))).toMatchObject([{ stage: 'pending_activation', orgId: null }]);
  expect(await org.decideSandbox(id, 'ACTIVATE')).toEqual({ isOk: true, value: null });
  await copies.finish('qa');
  expect(valueOf(await org.sandboxCopies({ id }))).toMatchObject([{ stage: 'completed', progress: 100 }]);

  copies.copy('qa').createdAt = new Date(Date.now() - 2 * DAY_MS);
  expect(valueOf(await org.sandboxDefinition('Qa'))).toMatchObject({ ...order, id: sandboxInfoId });
  valueOf(await org.refreshSandbox(sandboxInfoId, { isAutoActivated: true }));
  expect(copies.ledger.at(-1)).toEqual({
    act: 'refresh',
    name: 'qa',
    fields: {
      SandboxName: 'qa',
      LicenseType: 'DEVELOPER PRO',
      Description: 'For QA',
      HistoryDays: 0,
      CopyChatter: false,
      ActivationUserGroupId: activationGroupId,
      AutoActivate: true,
      Features: '["A"]',
    },
  });
  await copies.finish('qa');
  const all = valueOf(await org.sandboxCopies({ licenseType: 'DEVELOPER_PRO' }));
  expect(all.map(({ id: each }) => each)).toEqual([copies.copy('qa').id, id]);
  copies.copy('qa').createdAt = new Date(Date.now() - 2 * DAY_MS);
  valueOf(await org.deleteSandbox(sandboxInfoId));
  expect(failureOf(await org.deleteSandbox(sandboxInfoId)).kind).toBe('not_found');
  expect(valueOf(await org.sandboxDefinition('qa'))).toBeNull();
  expect(valueOf(await org.sandboxCopies({ id }))).toMatchObject([{ stage: 'void', status: 'Deleted' }]);
});

test('a clone has the type of licence of its source', async () => {
  const { org, copies, simulated } = opened();
  const sourceId = simulated.sandboxes[0]?.infoId;
  valueOf(await org.createSandbox({ name: 'clone', sourceId, licenseType: 'FULL' }));
  expect(copies.ledger[0]?.fields).toEqual({ SandboxName: 'clone', SourceId: sourceId });
  expect(valueOf(await org.sandboxDefinition('clone'))).toMatchObject({ licenseType: 'DEVELOPER', sourceId });
});

test('what the platform refuses is told in its words', async () => {
  const { org, copies } = opened();
  const create = async (order: object) => failureOf(await org.createSandbox({ name: 'qa', ...order }));
  expect(await create({})).toMatchObject({ kind: 'refused', code: 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST' });
  expect((await create({ licenseType: 'DEVELOPER' })).message).toContain('ActivationUserGroupId');
  expect((await create({ name: 'dev', licenseType: 'FULL' })).message).toContain('duplicate value found');
  copies.licences.set('FULL', 0);
  expect((await create({ licenseType: 'FULL' })).message).toBe('There are no available FULL licenses.');
  copies.isManager = false;
  expect((await create({ licenseType: 'PARTIAL' })).code).toBe('INSUFFICIENT_ACCESS');
});

test('the answer to a creation may be lost after it was done', async () => {
  const { org, copies, simulated } = opened();
  simulated.fail('lost', { path: /SandboxInfo$/ });
  expect(failureOf(await org.createSandbox({ name: 'qa', licenseType: 'FULL' })).kind).toBe('unreachable');
  expect(copies.ledger).toHaveLength(1);
  expect(valueOf(await org.sandboxCopies({ name: 'qa' }))).toHaveLength(1);
});
