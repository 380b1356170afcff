import { RECORDS_PER_CALL } from '../../../../domain/orgs/crm/crm-records.port.ts';
import { accessTo, failureOf, simulatedPlatform, valueOf } from '../../../support/crm.ts';

const given = simulatedPlatform();
const opened = () => {
  const simulated = given.crm.org('acme');
  return { people: simulated.people, simulated, org: given.platform.org(accessTo(given.platform, simulated)) };
};

test('records are created, changed and deleted, each with its outcome', async () => {
  const { org, people } = opened();
  const ada = people.addUser('ada@x.example');
  const set = people.addSet('Deploy');
  const type = 'PermissionSetAssignment';
  const record = { AssigneeId: ada.id, PermissionSetId: set.id };
  const created = valueOf(await org.createRecords({ type, records: [record, record] }));
  expect(created).toEqual([
    { id: expect.stringMatching(/^0Pa/), errors: [] },
    { id: null, errors: [{ code: 'DUPLICATE_VALUE', message: expect.any(String) }] },
  ]);
  const login = { Id: ada.login.id, IsFrozen: true };
  expect(valueOf(await org.updateRecords({ type: 'UserLogin', records: [login] }))).toEqual([
    { id: ada.login.id, errors: [] },
  ]);
  expect(people.user('ada@x.example').login.isFrozen).toBe(true);
  const id = String(created[0]?.id);
  expect(valueOf(await org.deleteRecords([id]))).toEqual([{ id, errors: [] }]);
  expect(valueOf(await org.deleteRecords([id]))[0]?.errors[0]?.code).toBe('ENTITY_IS_DELETED');
});

test('more records than a call takes are refused by the platform; an answer about others is none', async () => {
  const { org, simulated } = opened();
  const records = Array.from({ length: RECORDS_PER_CALL + 1 }, () => ({ Id: '0Yw000000000001' }));
  expect(failureOf(await org.updateRecords({ type: 'UserLogin', records }))).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  simulated.fail({ kind: 'reply', status: 200, body: [] }, { path: /composite/ });
  expect(failureOf(await org.deleteRecords(['0Pa000000000001']))).toMatchObject({
    kind: 'malformed',
    code: 'OTHER_COUNT',
  });
});

test('an answer that is lost says nothing of what the org did', async () => {
  const { org, people, simulated } = opened();
  const { login } = people.addUser('ada@x.example');
  simulated.fail('lost', { path: /composite/ });
  const records = [{ Id: login.id, IsFrozen: true }];
  expect(failureOf(await org.updateRecords({ type: 'UserLogin', records }))).toMatchObject({ kind: 'unreachable' });
  expect(people.user('ada@x.example').login.isFrozen).toBe(true);
});
