import { projectById } from '../../projects/projects/projects.queries.ts';
import { deploySettingsOf } from '../../projects/environments/environments.queries.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { orgOfRun, whyNoOrg } from '../org-steps/org-of-run.ts';
import { whyNotDeployed, wishOf } from './deploy-order-rules.ts';
import { withDefaults } from './deploy-settings-rules.ts';
import { namedSource, validationOf } from './source-of-run.ts';

/** Why the service cannot deploy source to an org, as far as the database knows; null: it can. */
export async function whyNotSource(tx: Tx, { id, projectId, run }: OfferedType): Promise<string | null> {
  if (id !== 'install-artifacts') return null;
  if (!run) return whyNoOrg(tx, run);
  const { payload } = run;
  if (payload.artifacts !== undefined)
    return 'The service deploys source, which a commitId, branch or release names; artifacts are installed by a command or a pipeline';
  if (projectId === undefined) return 'The payload names no repositoryIdentifier';
  const text = (name: string) => (typeof payload[name] === 'string' ? payload[name] : null);
  try {
    const org = await orgOfRun(tx, run);
    const why = whyNotDeployed(withDefaults(payload, await deploySettingsOf(tx, run.environmentId)), org.kind);
    if (why !== null) return why;
    const { quickDeployOf } = wishOf(payload);
    if (quickDeployOf !== undefined) {
      const named = { domain: text('domain'), releaseName: text('releaseName'), commitId: payload.commitId };
      await validationOf(tx, { runId: quickDeployOf, projectId, orgId: org.id, now: tx.now, named });
      return null;
    }
    await namedSource(tx, {
      projectId,
      domain: text('domain'),
      releaseName: text('releaseName'),
      payload: { id, ...payload },
    });
    const project = await projectById(tx, projectId);
    return project?.remoteUrl ? null : `The project ${project?.identifier ?? ''} has no remoteUrl`;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}
