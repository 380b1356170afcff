import { gitCredential } from '../../../domain/code/git/mirror/git-credentials.ts';
import type { GitMirrors, MirrorOf, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import type { Encryption } from '../../../domain/kernel/encryption/encryption.ts';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';

type Repository = Parameters<typeof gitCredential>[2];

/** The remote of a project, with the credential by which it is reached. */
export const remoteOf = async (unit: UnitOfWork, encryption: Encryption, of: Repository): Promise<Remote> => ({
  url: of.remoteUrl,
  credential: await unit((tx) => gitCredential(tx, encryption, of)),
});

/** What of a repository is meant: a commit, or, where it is undefined, the head of a branch. */
export interface WantedCommit {
  mirror: MirrorOf;
  remote: Remote;
  wanted: string | undefined;
  branch: string;
}

/** Fetches a repository for a commit. Answers its id, or why it is not there, for people. */
export async function fetchCommit(
  mirrors: GitMirrors,
  { mirror, remote, wanted, branch }: WantedCommit,
  signal: AbortSignal,
): Promise<Answer<string, { isOk: false; reason: string }>> {
  const not = (reason: string) => ({ isOk: false, reason }) as const;
  const fetched = await mirrors.fetch(mirror, remote, signal);
  if (fetched.outcome === 'failed') return not(`The repository could not be fetched: ${fetched.reason}`);
  if (wanted === undefined) {
    const head = (await mirrors.refs(mirror)).find(({ kind, name }) => kind === 'branch' && name === branch)?.sha;
    return head === undefined ? not(`The repository has no branch ${branch}`) : { isOk: true, value: head };
  }
  const [found] = await mirrors.present(mirror, [wanted]);
  return found === undefined ? not(`The repository has no commit ${wanted}`) : { isOk: true, value: found };
}
