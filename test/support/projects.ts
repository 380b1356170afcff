import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Imports between files of the tests, statically or by `import()`; those of types alone load nothing. */
const IMPORT = /(?:from|import\(?)\s*'(\.[^']+\.ts)'/g;
const TYPES_ONLY = /^import type [^;]*;/gm;

/** Where the addresses of the run's servers are read: who reaches such a file needs the servers. */
const SERVERS = /\bQS_TEST_/;

/** Who calls one of these starts processes of the service, or browsers. */
const PROCESSES = /\b(startWorkerProcess|startProcess|startApi|launchChromium|consoleStage|chromiumPath|newPlace)\(/;

export type Project = 'rules' | 'service' | 'processes';

/**
 * The test files of each project, as paths from the root: what needs no server, what needs PostgreSQL or Temporal, and
 * what starts processes besides. It follows from what a file imports, so nobody keeps a list.
 */
export function testFiles(): Record<Project, string[]> {
  const files = new Map(globSync('test/**/*.ts', { cwd: ROOT }).map((file) => [file, readTestFile(file)]));
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    if (!seen.has(from) && files.has(from)) {
      seen.add(from);
      for (const next of files.get(from)?.imports ?? []) reached(next, seen);
    }
    return seen;
  };
  const projects: Record<Project, string[]> = { rules: [], service: [], processes: [] };
  for (const file of [...files.keys()].toSorted()) {
    if (!file.endsWith('.test.ts')) continue;
    const all = reached(file);
    const some = (is: (each: TestFile) => boolean) => [...all].some((each) => is(files.get(each) as TestFile));
    if (some(({ startsProcesses }) => startsProcesses)) projects.processes.push(file);
    else if (some(({ needsServers }) => needsServers)) projects.service.push(file);
    else projects.rules.push(file);
  }
  return projects;
}

interface TestFile {
  imports: string[];
  needsServers: boolean;
  startsProcesses: boolean;
}

function readTestFile(file: string): TestFile {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(TYPES_ONLY, '');
  return {
    imports: [...text.matchAll(IMPORT)].map(([, path = '']) => join(dirname(file), path)),
    needsServers: SERVERS.test(text),
    // A helper that many files share may start processes for some of them: their own calls count.
    startsProcesses: file.endsWith('.test.ts') && PROCESSES.test(text),
  };
}
