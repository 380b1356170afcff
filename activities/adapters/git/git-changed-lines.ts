import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import type { GitResult } from './git-program.ts';

const DIFF = ['-c', 'core.quotePath=false', 'diff-tree', '-r', '-p', '-U0', '--no-renames', '--no-ext-diff'];
const AS_TEXT = ['--no-textconv', '--text', '--no-color', '--src-prefix=a/', '--dst-prefix=b/'];
const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** So many paths, of at most 4 KB each, are named to git at once: its arguments have at most 2 MB. */
const PATHS_AT_ONCE = 200;

/**
 * Which lines of some files differ in a commit from those of another one. The contents must be in the repository. What has
 * control characters, quotes or backslashes in its name is left out.
 */
export async function changedLines(
  run: (args: readonly string[]) => Promise<GitResult>,
  { base, head, paths }: { base: string; head: string; paths: readonly string[] },
  onLines: (path: string, first: number, count: number) => void,
): Promise<void> {
  for (const part of partsOf(paths, PATHS_AT_ONCE)) {
    // Contents of no other files are there: git would end at the first one that it lacks.
    const exactly = part.map((path) => `:(top,literal)${path}`);
    const { stdout } = await run([...DIFF, ...AS_TEXT, '--end-of-options', base, head, '--', ...exactly]);
    readLines(stdout, onLines);
  }
}

function readLines(diff: string, onLines: (path: string, first: number, count: number) => void): void {
  let path = '';
  // Lines of contents may look like any other.
  let content = 0;
  for (const line of diff.split('\n')) {
    if (content > 0) {
      if (!line.startsWith('\\')) content--;
      continue;
    }
    if (line.startsWith('diff --git ')) path = '';
    // A tab behind the name marks one with blanks.
    else if (line.startsWith('+++ b/')) path = line.slice('+++ b/'.length).replace(/\t$/, '');
    const [, gone = '1', first = '0', count = '1'] = HUNK.exec(line) ?? [undefined, '0', '0', '0'];
    content = Number(gone) + Number(count);
    if (path !== '' && Number(count) > 0) onLines(path, Number(first), Number(count));
  }
}
