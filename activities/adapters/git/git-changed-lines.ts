import type { GitResult } from './git-program.ts';

const DIFF = ['-c', 'core.quotePath=false', 'diff-tree', '-r', '-p', '-U0', '--no-renames', '--no-ext-diff'];
const AS_TEXT = ['--no-textconv', '--text', '--no-color', '--src-prefix=a/', '--dst-prefix=b/'];
const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Which lines of files with some endings differ in a commit from those of another one. The contents must be in the
 * repository. What has control characters, quotes or backslashes in its name is left out.
 */
export async function changedLines(
  run: (args: readonly string[]) => Promise<GitResult>,
  { base, head, endings }: { base: string; head: string; endings: readonly string[] },
  onLines: (path: string, first: number, count: number) => void,
): Promise<void> {
  const patterns = endings.map((ending) => `:(glob)**/*${ending}`);
  const { stdout } = await run([...DIFF, ...AS_TEXT, '--end-of-options', base, head, '--', ...patterns]);
  let path = '';
  // Lines of contents may look like any other.
  let content = 0;
  for (const line of stdout.split('\n')) {
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
