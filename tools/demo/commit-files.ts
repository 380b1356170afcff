import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PERSON = { NAME: 'Quayside demo', EMAIL: 'demo@quayside.invalid', DATE: '2026-01-05T09:00:00Z' };

/** Commits files (null: one that is removed) onto a commit of a bare repository, without a work tree. Answers the new commit, which the branch is at then. */
export async function commitFiles(
  path: string,
  {
    branch,
    onto,
    message,
    files,
  }: { branch: string; onto?: string; message: string; files: Readonly<Record<string, string | null>> },
): Promise<string> {
  const env = {
    ...process.env,
    GIT_INDEX_FILE: join(path, 'demo-index'),
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) =>
        Object.entries(PERSON).map(([what, value]) => [`GIT_${role}_${what}`, value]),
      ),
    ),
  };
  const own = async (args: readonly string[], input?: string) => {
    const child = run('git', ['-C', path, ...args], { env });
    child.child.stdin?.end(input);
    return (await child).stdout.trim();
  };
  if (onto !== undefined) await own(['read-tree', onto]);
  for (const [file, text] of Object.entries(files)) {
    if (text === null) {
      await own(['update-index', '--index-info'], `0 ${'0'.repeat(40)}\t${file}\n`);
      continue;
    }
    const blob = await own(['hash-object', '-w', '--stdin'], text);
    await own(['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`]);
  }
  const parent = onto === undefined ? [] : ['-p', onto];
  const made = await own(['commit-tree', await own(['write-tree']), ...parent, '-m', message]);
  await own(['update-ref', `refs/heads/${branch}`, made]);
  rmSync(env.GIT_INDEX_FILE);
  return made;
}
