import { randomNumbers, type TestRepository } from './repository.ts';

/** How each host words the merge of a branch, its squash, and the merge of the main line into a branch. */
const HOSTS = [
  {
    merge: (number: number, branch: string, title: string) =>
      `Merge pull request #${number} from acme/${branch}\n\n${title}`,
    squash: (number: number, title: string) => `${title} (#${number})`,
    back: (branch: string) => `Merge branch 'main' into ${branch}`,
  },
  {
    merge: (number: number, _: string, title: string) => `Merged PR ${number}: ${title}`,
    squash: (number: number, title: string) => `Merged PR ${number}: ${title}`,
    back: () => 'Merge main',
  },
  {
    merge: (number: number, branch: string, title: string) =>
      `Merged in ${branch} (pull request #${number})\n\n${title}\n\nApproved-by: Dana`,
    squash: (number: number, title: string) => `${title} (pull request #${number})`,
    back: (branch: string) => `Merged main into ${branch}`,
  },
  {
    merge: (number: number, branch: string, title: string) =>
      `Merge branch '${branch}' into 'main'\n\n${title}\n\nSee merge request acme/crm/shop!${number}`,
    squash: (number: number, title: string) => `${title}\n\nSee merge request acme/crm/shop!${number}`,
    back: (branch: string) => `Merge remote-tracking branch 'origin/main' into ${branch}`,
  },
] as const;

/** Numbers of the pull requests in such messages. */
export const teamPullRequests = (message: string): number[] =>
  [
    ...message.matchAll(
      /^Merge pull request #(\d+)|^Merged PR (\d+)|\(pull request #(\d+)\)$|\(#(\d+)\)$|^See merge request \S+!(\d+)$/gm,
    ),
  ].map((match) => Number(match.slice(1).find((digits) => digits !== undefined)));

interface Line {
  branch: string;
  base: Line | undefined;
  tree: Map<string, string>;
  /** Paths that differ from the base, or did. */
  changed: Set<string>;
}

/**
 * A random history of a team: branches of features, of features of features and of releases, which are merged, squashed
 * or rebased in the wordings of several hosts, take in the main line, and get single commits by cherry-picks.
 * @returns the merges of the main line into branches.
 */
export function teamHistory(
  remote: TestRepository,
  { commits, packages, seed }: { commits: number; packages: readonly string[]; seed: number },
): { backMerges: Set<string>; commits: string[] } {
  const random = randomNumbers(seed);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)];
  const main: Line = { branch: 'main', base: undefined, tree: new Map(), changed: new Set() };
  const lines: Line[] = [main];
  const made: string[] = [];
  const backMerges = new Set<string>();
  let number = 0;
  const key = () => `SHOP-${++number}`;
  const tipOf = ({ branch }: Line) => remote.tip(branch) ?? '';

  const commit = (line: Line, message: string, files: Record<string, string>, merge: string[] = []): string => {
    for (const [path, content] of Object.entries(files)) {
      line.tree.set(path, content);
      line.changed.add(path);
    }
    const sha = remote.commit({ branch: line.branch, message, files, merge });
    made.push(sha);
    return sha;
  };
  const edit = () => ({ [`${pick(packages)}/file ${random(3)}.cls`]: `content ${random(1_000_000)}\n` });
  const differing = (from: Line, into: Line) =>
    Object.fromEntries(
      [...from.changed].flatMap((path) => {
        const content = from.tree.get(path);
        return content === undefined || into.tree.get(path) === content ? [] : [[path, content]];
      }),
    );
  const branchOff = (base: Line, branch: string) => {
    remote.git(['branch', branch, base.branch]);
    lines.push({ branch, base, tree: new Map(base.tree), changed: new Set() });
  };

  for (const name of packages) commit(main, `Add ${name}`, { [`${name}/file 0.cls`]: 'content 0\n' });
  while (made.length < commits) {
    const line = pick(lines) ?? main;
    const host = pick(HOSTS) ?? HOSTS[0];
    const { base } = line;
    const hasWork = line.changed.size > 0;
    switch (random(9)) {
      case 0:
        if (lines.length < 7)
          branchOff(line, line === main && random(3) === 0 ? `release/${++number}` : `work/${++number}`);
        break;
      case 1:
        if (base && hasWork) {
          // Now and then only the merge names the work item.
          const message = host.merge(++number, line.branch, `${random(3) > 0 ? key() : 'Work'}: merged`);
          commit(base, message, differing(line, base), [tipOf(line)]);
          if (!line.branch.startsWith('release/')) lines.splice(lines.indexOf(line), 1);
        }
        break;
      case 2:
        if (base && hasWork && line.branch.startsWith('work/')) {
          commit(base, host.squash(++number, `${key()}: squashed`), differing(line, base));
          lines.splice(lines.indexOf(line), 1);
        }
        break;
      case 3:
        if (base && line !== main && tipOf(line) !== tipOf(main)) {
          const files = Object.fromEntries([...main.tree].filter(([path]) => !line.changed.has(path)));
          for (const [path, content] of Object.entries(files)) line.tree.set(path, content);
          const message = `${host.back(line.branch)}${random(2) === 0 ? `\n\n${key()} keeps up` : ''}`;
          const sha = remote.commit({ branch: line.branch, message, files, merge: [tipOf(main)] });
          made.push(sha);
          backMerges.add(sha);
        }
        break;
      case 4: {
        const release = lines.find(({ branch }) => branch.startsWith('release/'));
        if (release) {
          const files = edit();
          const message = `${key()}: picked`;
          const sha = commit(main, message, files);
          commit(release, `${message}\n\n(cherry picked from commit ${sha})`, files);
        }
        break;
      }
      default:
        commit(line, random(2) === 0 ? `${key()}: a change` : 'A change', edit());
    }
  }
  return { backMerges, commits: made };
}
