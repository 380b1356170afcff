import {
  readScratchDefinition,
  settingsFiles,
} from '../../../../domain/review/review-pools/scratch-definition-rules.ts';

const read = (definition: unknown) => readScratchDefinition(JSON.stringify(definition));

test('members become fields by the names of the platform; what the pool decides is left out', () => {
  expect(
    read({
      $schema: 'https://schema.example',
      orgName: 'Shop',
      edition: 'Developer',
      hasSampleData: true,
      features: 'Communities, ServiceCloud',
      description: 'mine',
      DESCRIPTION: 'mine, too',
      durationDays: 30,
      snapshot: null,
      settings: { mobileSettings: { enableX: true } },
    }),
  ).toEqual({
    fields: { OrgName: 'Shop', Edition: 'Developer', HasSampleData: true, Features: 'Communities;ServiceCloud' },
    settings: { mobileSettings: { enableX: true } },
  });
});

test.each([
  ['{', 'it is not JSON'],
  ['[]', 'it is no JSON object'],
  ['{"username":"a@b.example"}', 'username cannot be that of several orgs: leave it out'],
  ['{"objectSettings":{}}', 'objectSettings are not deployed'],
  ['{"connectedAppConsumerKey":"mine"}', 'connectedAppConsumerKey is set by the service'],
  ['{"UserName":"a@b.example"}', 'username cannot be that of several orgs: leave it out'],
  ['{"__proto__":"a"}', 'its member __proto__ has no valid name'],
  ['{"org name":"a"}', 'its member org name has no valid name'],
  [
    `{"settings":{"mobileSettings":${'{"a":'.repeat(10)}{}${'}'.repeat(10)}}}`,
    'its mobileSettings are nested deeper than 10 levels',
  ],
  ['{"orgName":{"a":1}}', 'its member orgName is neither text, number nor boolean'],
  ['{"settings":[]}', 'its settings are no object'],
  ['{"settings":{"../evil":{}}}', 'its settings have no valid ../evil'],
  ['{"settings":{"mobileSettings":true}}', 'its settings have no valid mobileSettings'],
])('%s cannot be used', (text, why) => {
  expect(readScratchDefinition(text)).toContain(why);
});

test('members that objects have by nature are fields like any other, and settings may have ten levels', () => {
  const settings = `{"mobileSettings":${'{"a":'.repeat(10)}1${'}'.repeat(10)}}`;
  expect(readScratchDefinition(`{"constructor":"a","settings":${settings}}`)).toMatchObject({
    fields: { Constructor: 'a' },
  });
});

test('settings become the files of a deployment, escaped', () => {
  const files = settingsFiles(
    { mobileSettings: { enableX: true, nested: { text: 'a<b&c' }, list: ['1', '2'], 'bad name': 1 } },
    '66.0',
  );
  expect([...files.keys()]).toEqual(['settings/Mobile.settings', 'package.xml']);
  const settings = files.get('settings/Mobile.settings');
  expect(settings).toContain(
    '<MobileSettings xmlns="http://soap.sforce.com/2006/04/metadata"><enableX>true</enableX><nested><text>a&lt;b&amp;c</text></nested><list>1</list><list>2</list></MobileSettings>',
  );
  expect(files.get('package.xml')).toContain(
    '<types><members>Mobile</members><name>Settings</name></types><version>66.0',
  );
});
