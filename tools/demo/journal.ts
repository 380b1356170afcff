import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a thing that the demo made is removed again: a request, or a folder. */
export type Undo =
  | { method: 'DELETE' | 'POST'; path: string /** To be looked at until `--clean`. */; stays?: boolean }
  | { folder: string; stays?: boolean };

/** What one run of the demo made and is still there, in a file, so that a demo that was killed can be cleaned up after. */
export interface DemoJournal {
  /** Address of the service. */
  url: string;
  note: (undo: Undo) => void;
  /** The thing is gone, or was removed otherwise. */
  forget: (undo: Undo) => void;
  /** The newest first, as later things depend on earlier ones. */
  made: () => readonly Undo[];
}

const FOLDER = 'demo';

interface Stored {
  url: string;
  made: Undo[];
}

/** @param name of the run; what a run of that name made before is read. */
export function demoJournal(dataDir: string, name: string, url: string): DemoJournal {
  const file = join(dataDir, FOLDER, `${name}.json`);
  const stored: Stored = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Stored) : { url, made: [] };
  const write = () => {
    if (stored.made.length === 0) return rmSync(file, { force: true });
    mkdirSync(join(dataDir, FOLDER), { recursive: true });
    writeFileSync(file, JSON.stringify(stored));
  };
  const keyOf = (undo: Undo) => ('folder' in undo ? undo.folder : undo.path);
  return {
    url: stored.url,
    note(undo) {
      stored.made.unshift(undo);
      write();
    },
    forget(undo) {
      stored.made = stored.made.filter((each) => keyOf(each) !== keyOf(undo));
      write();
    },
    made: () => [...stored.made],
  };
}

/** What earlier runs against a service made and left. */
export function earlierJournals(dataDir: string, url: string): DemoJournal[] {
  const folder = join(dataDir, FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => demoJournal(dataDir, file.slice(0, -'.json'.length), url))
    .filter((journal) => journal.url === url);
}

type Body = Record<string, unknown>;
type Maker = readonly [RegExp, (request: { path: string; body: Body; answer: Body }) => Undo[]];

const removal = (path: string): Undo[] => [{ method: 'DELETE', path }];
const byId = ({ path, answer }: { path: string; answer: Body }) => removal(`${path}/${answer.id as string}`);
const query = (members: Record<string, string>) => new URLSearchParams(members).toString();

/** What requests make that somebody has to remove; environments and candidates go with their project. */
const MAKERS: readonly Maker[] = [
  [
    /^\/api\/projects$/,
    ({ body }) => [
      { method: 'DELETE', path: `/api/projects/${encodeURIComponent(body.identifier as string)}`, stays: true },
    ],
  ],
  [/^\/api\/(webhooks|integrations|application-tokens|review\/pools|review\/pools\/assign)$/, byId],
  [/^\/api\/review\/pools\/[^/]+\/instances$/, byId],
  [
    /^\/api\/auth\/crm\/register/,
    ({ answer }) => removal(`/api/auth/crm/org?${query({ username: answer.username as string })}`),
  ],
  [/^\/api\/mocks\/workspaces\/[^/]+\/scenarios$/, ({ path, body }) => removal(`${path}/${body.name as string}`)],
  [
    /^\/api\/slack\/workspace$/,
    ({ body }) => removal(`/api/slack/workspace?${query({ team_id: body.team_id as string })}`),
  ],
  [
    /^\/api\/doc-store\/bulk/,
    ({ body }) => {
      const names = new Set((body.documents as { collection: string }[]).map(({ collection }) => collection));
      return [...names].map((name) => ({
        method: 'DELETE',
        path: `/api/doc-store/collections/${encodeURIComponent(name)}`,
        stays: true,
      }));
    },
  ],
  [
    /^\/api\/environments\/[^/]+\/browser\/record$/,
    ({ answer }) => [{ method: 'POST', path: `/api/browser-sessions/${answer.id as string}/stop` }],
  ],
  [/^\/api\/flows\/run$/, ({ answer }) => [{ method: 'POST', path: `/api/flows/runs/${answer.id as string}/cancel` }]],
  [
    /^\/api\/review\/assignments$/,
    ({ answer }) => [{ method: 'POST', path: `/api/review/assignments/${answer.id as string}/release` }],
  ],
];

/** How what a POST made is removed. */
export const undosOf = (path: string, body: Body, answer: Body): Undo[] =>
  MAKERS.find(([pattern]) => pattern.test(path))?.[1]({ path, body, answer }) ?? [];
