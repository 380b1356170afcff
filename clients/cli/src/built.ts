import { usage } from './exit.ts';
import { builtBranch, builtCommit } from './pipeline.ts';

/** What a command works with that is about what is built. */
interface Surroundings {
  env: NodeJS.ProcessEnv;
}

/** The commit that is named, else that of the pipeline or folder. Throws where nothing says which. */
export function commitOf({ env }: Surroundings, named: string | undefined): string {
  const commit = named ?? builtCommit(env, process.cwd());
  if (commit === undefined) throw usage('Which commit? Give --commit');
  return commit;
}

/** The branch that is named, else that of the pipeline or folder; undefined: nothing says, or it is a tag. */
export const knownBranch = ({ env }: Surroundings, named: string | undefined): string | undefined =>
  named ?? builtBranch(env, process.cwd());

/** The same; throws where nothing says which. */
export function branchOf(surroundings: Surroundings, named: string | undefined): string {
  const branch = knownBranch(surroundings, named);
  if (branch === undefined) throw usage('Which branch? Give --branch');
  return branch;
}
