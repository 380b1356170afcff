import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git } from './repository.ts';
import { newTemporaryFolder } from './temporary-folders.ts';

const MAIN = 'main';
export const FIXTURE_HOTFIX = 'hotfix/1.3.1';
/** 2 March 2026, 08:00 UTC; a commit every five hours. */
const BEGIN = 1_772_438_400;
const STEP_SECONDS = 5 * 3_600;
const PEOPLE = [
  'Mara Lind <mara@harbour.example>',
  'Teo Brandt <teo@harbour.example>',
  'Ida Ros <ida@harbour.example>',
];

const PACKAGES = [
  { name: 'HarbourCore', path: 'packages/core', needs: [] },
  { name: 'HarbourStyles', path: 'packages/styles', needs: [] },
  { name: 'HarbourPricing', path: 'packages/pricing', needs: ['HarbourCore'] },
  { name: 'HarbourBooking', path: 'packages/booking', needs: ['HarbourCore', 'HarbourPricing', 'HarbourStyles'] },
];

const manifest = (version: string): string =>
  `${JSON.stringify(
    {
      packageDirectories: PACKAGES.map(({ name, path, needs }) => ({
        path,
        package: name,
        versionNumber: `${version}.NEXT`,
        default: name === 'HarbourBooking',
        ...(needs.length > 0 && {
          dependencies: needs.map((each) => ({ package: each, versionNumber: `${version}.LATEST` })),
        }),
      })),
      namespace: '',
      sourceApiVersion: '64.0',
      packageAliases: Object.fromEntries(PACKAGES.map(({ name }, index) => [name, `0Ho00000000000${index}AAA`])),
    },
    null,
    2,
  )}\n`;

/** A feature on a branch of its own: what its commits change, and how it came to the main line. */
interface Feature {
  branch: string;
  commits: [message: string, path: string][];
  pullRequest: number;
  isSquashed?: boolean;
}

/** Features of one version each. */
const VERSIONS: { version: string; features: Feature[] }[] = [
  {
    version: '1.0.0',
    features: [
      {
        branch: 'feature/berths',
        commits: [
          ['HARB-1: Berths with their length and depth', 'core/classes/Berth.cls'],
          ['HARB-1: A berth knows which ships fit', 'core/classes/Berth.cls'],
        ],
        pullRequest: 1,
      },
      {
        branch: 'fix/names',
        commits: [['HARB-16: Names of berths are unique', 'core/classes/Berth.cls']],
        pullRequest: 3,
        isSquashed: true,
      },
      {
        branch: 'feature/tariffs',
        commits: [
          ['HARB-2: Tariffs by length', 'pricing/classes/Tariff.cls'],
          ['HARB-2: Tariffs change on a day', 'pricing/classes/Tariff.cls'],
        ],
        pullRequest: 2,
      },
    ],
  },
  {
    version: '1.1.0',
    features: [
      {
        branch: 'feature/booking-page',
        commits: [
          ['HARB-3: A page to book a berth', 'booking/lwc/booking/booking.js'],
          ['HARB-3: The page shows the price', 'booking/lwc/booking/booking.js'],
          ['HARB-3: Colours of the harbour', 'styles/staticresources/harbour.css'],
        ],
        pullRequest: 4,
      },
      {
        branch: 'fix/depth',
        commits: [['HARB-5: Depth in metres', 'core/classes/Berth.cls']],
        pullRequest: 5,
        isSquashed: true,
      },
    ],
  },
  {
    version: '1.2.0',
    features: [
      {
        branch: 'feature/discounts',
        commits: [
          ['HARB-6: Discounts for residents', 'pricing/classes/Discount.cls'],
          ['HARB-6: Discounts have an end', 'pricing/classes/Discount.cls'],
        ],
        pullRequest: 7,
      },
      {
        branch: 'fix/rounding',
        commits: [['HARB-17: Prices are rounded', 'pricing/classes/Tariff.cls']],
        pullRequest: 6,
        isSquashed: true,
      },
      {
        branch: 'feature/cancel',
        commits: [
          ['HARB-8: Cancel a booking', 'booking/classes/Cancellation.cls'],
          ['HARB-8: A cancelled berth is free again', 'core/classes/Berth.cls'],
        ],
        pullRequest: 8,
      },
    ],
  },
  {
    version: '1.3.0',
    features: [
      {
        branch: 'feature/seasons',
        commits: [
          ['HARB-9: Tariffs by season', 'pricing/classes/Season.cls'],
          ['HARB-9: Seasons of the year before', 'pricing/classes/Season.cls'],
        ],
        pullRequest: 10,
      },
      {
        branch: 'fix/title',
        commits: [['HARB-18: The title of the page', 'booking/lwc/booking/booking.js']],
        pullRequest: 9,
        isSquashed: true,
      },
      {
        branch: 'fix/contrast',
        commits: [['HARB-11: More contrast', 'styles/staticresources/harbour.css']],
        pullRequest: 11,
        isSquashed: true,
      },
    ],
  },
  {
    version: '1.4.0',
    features: [
      {
        branch: 'feature/waiting-list',
        commits: [
          ['HARB-12: A waiting list for berths', 'booking/classes/WaitingList.cls'],
          ['HARB-12: Who waits longest is asked first', 'booking/classes/WaitingList.cls'],
          ['HARB-12: Ask by e-mail', 'booking/classes/WaitingListMail.cls'],
        ],
        pullRequest: 13,
      },
      {
        branch: 'fix/font',
        commits: [['HARB-19: A font that is there', 'styles/staticresources/harbour.css']],
        pullRequest: 12,
        isSquashed: true,
      },
      {
        branch: 'feature/invoices',
        commits: [
          ['HARB-14: Invoices', 'pricing/classes/Invoice.cls'],
          ['HARB-14: Invoices name the berth', 'core/classes/Berth.cls'],
        ],
        pullRequest: 14,
      },
    ],
  },
];

const HOTFIX_OF = '1.3.0';
const HOTFIX: [message: string, path: string][] = [
  ['HARB-15: A season that ends in the new year', 'pricing/classes/Season.cls'],
  ['HARB-15: The page says when no season is open', 'booking/lwc/booking/booking.js'],
];

/** The commands by which `git fast-import` makes the history. */
function history(): string {
  const commands: string[] = [];
  let made = 0;
  const commit = (branch: string, message: string, files: Record<string, string>, from?: string, merge?: string) => {
    const mark = ++made;
    const who = `${PEOPLE[mark % PEOPLE.length]} ${BEGIN + mark * STEP_SECONDS} +0100`;
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
    commands.push(
      `commit refs/heads/${branch}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\n${data(message)}`,
      from === undefined ? '' : `from ${from}\n`,
      merge === undefined ? '' : `merge ${merge}\n`,
      ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`),
      '\n',
    );
    return `:${mark}`;
  };
  const change = (message: string, path: string) => ({ [`packages/${path}`]: `${message}\n` });
  let main = commit(MAIN, 'Start the harbour', {
    'sfdx-project.json': manifest('1.0.0'),
    'README.md': 'A harbour in four packages\n',
    ...Object.fromEntries(PACKAGES.map(({ name, path }) => [`${path}/README.md`, `${name}\n`])),
  });
  for (const { version, features } of VERSIONS) {
    for (const { branch, commits, pullRequest, isSquashed } of features) {
      let tip = main;
      if (isSquashed) {
        const [[message, path] = ['', '']] = commits;
        main = commit(MAIN, `${message} (#${pullRequest})`, change(message, path), main);
        continue;
      }
      for (const [message, path] of commits) tip = commit(branch, message, change(message, path), tip);
      const merged = Object.assign({}, ...commits.map(([message, path]) => change(message, path))) as Record<
        string,
        string
      >;
      main = commit(MAIN, `Merge pull request #${pullRequest} from harbour/${branch}`, merged, main, tip);
      commands.push(`reset refs/heads/${branch}\nfrom 0000000000000000000000000000000000000000\n\n`);
    }
    main = commit(MAIN, `Release ${version}`, { 'sfdx-project.json': manifest(version) }, main);
    commands.push(`reset refs/tags/v${version}\nfrom ${main}\n\n`);
    if (version !== HOTFIX_OF) continue;
    let tip = main;
    for (const [message, path] of HOTFIX) tip = commit(FIXTURE_HOTFIX, message, change(message, path), tip);
  }
  return commands.join('');
}

/**
 * Makes a small repository of four packages, the same at each call: five versions of features that came by merges and
 * squashes, and a hotfix of the last but one.
 * @returns its path, in a new folder under the system's temporary one; it belongs to the caller.
 */
export async function makeFixture(): Promise<string> {
  const path = join(newTemporaryFolder(), 'harbour');
  await git(tmpdir(), 'init', '--quiet', '--bare', `--initial-branch=${MAIN}`, path);
  await fastImport(path, history());
  return path;
}

async function fastImport(path: string, commands: string): Promise<void> {
  const child = spawn('git', ['-C', path, 'fast-import', '--quiet', '--force'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.end(commands);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
}
