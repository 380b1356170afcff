import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commitFiles } from './commit-files.ts';
import { git } from './repository.ts';
import { newTemporaryFolder } from './temporary-folders.ts';

const MAIN = 'main';
const META = 'xmlns="http://soap.sforce.com/2006/04/metadata"';

/** Files of an Apex class in source format. */
export const apexClass = (folder: string, name: string, lines: readonly string[]): Record<string, string> => ({
  [`${folder}/classes/${name}.cls`]: `${lines.join('\n')}\n`,
  [`${folder}/classes/${name}.cls-meta.xml`]: `<?xml version="1.0" encoding="UTF-8"?>\n<ApexClass ${META}>\n    <apiVersion>64.0</apiVersion>\n    <status>Active</status>\n</ApexClass>\n`,
});

/** A small repository of source, the same at each call: a class, its test and an object. Answers its path, which belongs to the caller. */
export async function makeSource(): Promise<string> {
  const path = join(newTemporaryFolder(), 'harbour-source');
  await git(tmpdir(), 'init', '--quiet', '--bare', `--initial-branch=${MAIN}`, path);
  const folder = 'force-app/main/default';
  const files = {
    'sfdx-project.json': `${JSON.stringify({ packageDirectories: [{ path: 'force-app', default: true }], sourceApiVersion: '64.0' }, null, 2)}\n`,
    ...apexClass(folder, 'Berth', [
      'public class Berth {',
      '  public Decimal depth;',
      '  public Boolean fits(Decimal draught) {',
      '    return draught < depth;',
      '  }',
      '}',
    ]),
    [`${folder}/objects/Berth__c/Berth__c.object-meta.xml`]: `<?xml version="1.0" encoding="UTF-8"?>\n<CustomObject ${META}>\n    <label>Berth</label>\n    <pluralLabel>Berths</pluralLabel>\n</CustomObject>\n`,
  };
  const onto = await commitFiles(path, { branch: MAIN, message: 'Start the harbour', files });
  const tariff = apexClass(folder, 'Tariff', ['public class Tariff {', '  public static Decimal perMetre = 12;', '}']);
  await commitFiles(path, { branch: MAIN, onto, message: 'HARB-2: Tariffs by length', files: tariff });
  return path;
}
