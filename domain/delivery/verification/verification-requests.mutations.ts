import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { environmentByName, unknownEnvironment } from '../../projects/environments/environments.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { candidateById } from '../release-candidates/release-candidates.queries.ts';
import { type DeploymentStatus, isSuccess } from '../release-candidates/finalization-rules.ts';
import { lastDeploymentOf, type ShownVerification, verificationsOf } from './shown-verifications.queries.ts';
import { insertVerification, verificationOfEnvironment } from './verifications.queries.ts';

interface StoredDeployment {
  id: string;
  projectId: string;
  environmentId: string;
  domain: string;
  status: DeploymentStatus;
}

/** Begins to verify a deployment that has just been stored, where its environment asks for it; others there end. */
export async function verifyStored(tx: Tx, deployment: StoredDeployment): Promise<void> {
  const { environmentId, domain, status } = deployment;
  const { verification, open } = await verificationOfEnvironment(tx, environmentId, domain);
  for (const verificationId of open) tx.after('verification', { verificationId });
  if (!verification || !isSuccess(status)) return;
  const verificationId = await insertVerification(tx, deployment, verification, tx.actor);
  if (verificationId !== undefined) tx.after('verification', { verificationId });
}

/**
 * Verifies the last deployment of a candidate's content to an environment again, by what the environment asks for now; a
 * verification that goes on is joined. Throws `not_found`, and `invalid_transition` where there is nothing to verify.
 */
export async function verifyAgain(
  tx: Tx,
  candidateId: string,
  environmentName: string,
  requestedBy: Actor,
): Promise<ShownVerification> {
  const { candidate, project } = await candidateById(tx, candidateId);
  const environment = await environmentByName(tx, project.id, environmentName);
  if (!environment) throw await unknownEnvironment(tx, project.id, environmentName);
  if (!environment.verification)
    throw invalidField('environmentName', `${environmentName} verifies nothing: it has no \`verification\``);
  const deployment = await lastDeploymentOf(tx, candidate, environment.id);
  if (!deployment) {
    const detail = `The present content of ${candidate.releaseName} was not deployed to ${environmentName}`;
    throw new DomainError('invalid_transition', detail);
  }
  const verificationId = await insertVerification(tx, deployment, environment.verification, requestedBy);
  if (verificationId !== undefined) {
    tx.after('verification', { verificationId });
    tx.audit({
      source: 'release',
      action: 'release.verification_requested',
      entityType: 'release_deployment',
      entityId: deployment.id,
      repositoryIdentifier: project.identifier,
      summary: `Verification of ${candidate.releaseName} (${candidate.domain}) in ${environmentName} requested`,
      after: { verificationId, environmentName },
    });
  } else tx.noteDone();
  const shown = (await verificationsOf(tx, [deployment.id])).get(deployment.id);
  if (!shown) throw new Error(`The verification of deployment ${deployment.id} was not stored`);
  return shown;
}
