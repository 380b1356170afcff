import type { ListedComponent, ListQuery } from '../../../../domain/orgs/crm/crm-metadata.port.ts';
import { type Asked, listComponents, noteQueries } from '../../../../domain/orgs/gc-ledger/gc-listing.ts';

const listed = (type: string | null, fullName: string, namespacePrefix: string | null = null): ListedComponent => ({
  type,
  fullName,
  namespacePrefix,
  fileName: null,
  id: null,
  createdAt: null,
  createdByName: null,
  lastModifiedAt: null,
  lastModifiedByName: null,
  lastModifiedById: null,
  manageableState: null,
});

/** What an org with these components answers about some of them, all asked for together. */
async function presences(components: ListedComponent[], asked: Asked[]): Promise<Record<string, string>> {
  const queries = new Map<string, ListQuery>();
  noteQueries(queries, asked);
  const types = [...new Set(asked.map(({ componentType }) => componentType))];
  const { presenceOf } = await listComponents(
    {
      describeMetadata: async () => ({
        isOk: true,
        value: types.map((name) => ({
          name,
          directoryName: '',
          suffix: null,
          isInFolder: false,
          hasMetaFile: false,
          childTypes: [],
        })),
      }),
      listMetadata: async () => ({ isOk: true, value: components }),
    },
    queries.values(),
  );
  return Object.fromEntries(asked.map((each) => [`${each.componentType} ${each.fullName}`, presenceOf(each)]));
}

test('a component of the namespace of the org is known by its names with and without it', async () => {
  const org = [listed('CustomField', 'ns__Obj__c.ns__Field__c', 'ns'), listed('CustomObject', 'ns__Obj__c', 'ns')];
  await expect(
    presences(org, [
      { componentType: 'CustomField', fullName: 'Obj__c.Field__c' },
      { componentType: 'CustomField', fullName: 'ns__Obj__c.ns__Field__c' },
      { componentType: 'CustomObject', fullName: 'Obj__c' },
      { componentType: 'CustomObject', fullName: 'Other__c' },
    ]),
  ).resolves.toEqual({
    'CustomField Obj__c.Field__c': 'present',
    'CustomField ns__Obj__c.ns__Field__c': 'present',
    'CustomObject Obj__c': 'present',
    'CustomObject Other__c': 'absent',
  });
});

test('a component of a type that was not asked for may be any of those that were', async () => {
  const org = [listed('AccountSettings', 'Account'), listed('ApexClass', 'Kept'), listed(null, 'Nil')];
  await expect(
    presences(org, [
      { componentType: 'Settings', fullName: 'Account' },
      { componentType: 'Settings', fullName: 'Kept' },
      { componentType: 'Settings', fullName: 'Nil' },
      { componentType: 'ApexClass', fullName: 'Kept' },
      { componentType: 'ApexClass', fullName: 'Gone' },
    ]),
  ).resolves.toEqual({
    'Settings Account': 'present',
    'Settings Kept': 'absent',
    'Settings Nil': 'present',
    'ApexClass Kept': 'present',
    'ApexClass Gone': 'absent',
  });
});
