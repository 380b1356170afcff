import { join, resolve } from 'node:path';
import type { CreateBranch, FindGitHost, MergeBranches } from '../../domain/code/git-hosts/git-host.port.ts';
import type { GitMirrors } from '../../domain/code/git/mirror/git-mirrors.port.ts';
import type { FindPullRequestHost } from '../../domain/code/pull-requests/pull-request-host.port.ts';
import { createGitBranches, createGitMerges } from '../adapters/git-hosts/git-branches.ts';
import { createGitHosts } from '../adapters/git-hosts/git-hosts.ts';
import { createGitMirrors } from '../adapters/git/git-mirrors.ts';
import type { Base, Made } from '../base.ts';
import type { MockParts } from '../mocks/parts.ts';

export interface CodeWork {
  git: {
    findHost: FindGitHost;
    findPullRequestHost: FindPullRequestHost;
    createBranch: CreateBranch;
    mergeBranches: MergeBranches;
    mirrors: GitMirrors;
    /** How long what is known of a mirror counts as current. */
    fetchEverySeconds: number;
  };
}

export function createCodeWork({
  config,
  hosts,
  outbound,
  actingAs,
  encryption,
  log,
}: Base & Pick<MockParts, 'hosts'>): Made<CodeWork> {
  const gitHosts = createGitHosts({ addresses: hosts, actingAs, encryption });
  const folder = resolve(config.GIT_MIRROR_DIR ?? join(config.DATA_DIR, 'git'));
  const remotes = { folder, addresses: outbound, allowLocal: config.ALLOW_LOCAL_GIT };
  return {
    parts: {
      git: {
        findHost: gitHosts.find,
        findPullRequestHost: gitHosts.findPullRequests,
        createBranch: createGitBranches(remotes),
        mergeBranches: createGitMerges(remotes),
        mirrors: createGitMirrors({ ...remotes, log }),
        fetchEverySeconds: config.GIT_FETCH_EVERY_SECONDS,
      },
    },
    close: gitHosts.close,
  };
}
