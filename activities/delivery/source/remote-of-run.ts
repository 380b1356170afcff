import type { MirrorOf, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import { remoteOf } from '../../code/git/fetched-commits.ts';
import type { Deps } from '../../deps.ts';

/** The repository of a run's project: its mirror, and where that is fetched from. */
export interface RunRemote {
  projectId: string;
  mirror: MirrorOf;
  remote: Remote;
}

/** Answers why a run has no repository in words: it names no project, or that has no remote. */
export async function remoteOfRun(
  { actingAs, encryption }: Pick<Deps, 'actingAs' | 'encryption'>,
  tenant: TenantKey,
  run: Pick<RunContext, 'projectId' | 'platform' | 'remoteUrl' | 'repositoryIdentifier'>,
): Promise<Answer<RunRemote, { isOk: false; reason: string }>> {
  const { projectId, platform, remoteUrl, repositoryIdentifier } = run;
  if (projectId === null || platform === null || repositoryIdentifier === null)
    return { isOk: false, reason: 'The run names no repository' };
  if (remoteUrl === null) return { isOk: false, reason: `The project ${repositoryIdentifier} has no remoteUrl` };
  const of = { projectId, platform, remoteUrl, repositoryIdentifier };
  const remote = await remoteOf(actingAs(systemActor(tenant, 'flow')), encryption, of);
  return { isOk: true, value: { projectId, mirror: { tenantId: tenant.tenantId, projectId }, remote } };
}
