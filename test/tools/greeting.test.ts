import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { greetingText } from '../../tools/greeting.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-greeting-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(['data', "it's here & there?", 'a $HOME `b` "c" *'])(
  'the printed command signs in, pasted into a shell, from the folder %s',
  (name) => {
    const dataDir = join(folder, name);
    mkdirSync(dataDir);
    const file = join(dataDir, 'owner.json');
    writeFileSync(file, JSON.stringify({ tenant: 'demo' }));
    const owner = { tenant: 'demo', ownerEmail: 'owner@example.com', created: false };
    const text = greetingText({
      seconds: 1,
      url: 'http://127.0.0.1:3000/base?a=1&b=2',
      temporalUiUrl: undefined,
      temporalNamespace: 'default',
      metricsUrls: [],
      hasBrowsers: false,
      hasConsole: true,
      dataDir,
      owner,
    });
    const command = text.split('\n').find((line) => line.trimStart().startsWith('curl ')) ?? '';
    const printed = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], { encoding: 'utf8' });
    expect(printed.trimEnd().split('\n')).toEqual([
      '-s',
      'http://127.0.0.1:3000/base?a=1&b=2/api/auth/admin/login',
      '-H',
      'content-type: application/json',
      '-d',
      `@${file}`,
    ]);
  },
);
