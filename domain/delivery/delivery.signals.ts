import type { AcceptedRun } from './flows/new-runs.mutations.ts';
import type { RunWorkflowKey } from '../kernel/shared/workflow-path-rules.ts';

export interface RecordedDeployment {
  deploymentId: string;
  projectId: string;
  repositoryIdentifier: string;
  domain: string;
}

export interface ChangedVerification {
  verificationId: string;
}

export interface SettledApproval {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

declare module '../kernel/signals.port.ts' {
  interface Signals {
    /** Something other than a decision settled an approval. */
    approval: SettledApproval;
    /** A deployment was stored, and is to be applied to its candidate. */
    deployment: RecordedDeployment;
    /** A run was accepted that nobody else starts. */
    acceptedRun: AcceptedRun;
    /** What a run waits for was changed. */
    run: RunWorkflowKey;
    /** A deployment is to be verified, or something became of that. */
    verification: ChangedVerification;
    /** A run was removed with its project. */
    removedRun: RunWorkflowKey;
  }
}
