import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { moveStep, type StepMove, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { SandboxAct } from '../../../domain/delivery/sandboxes/sandbox-rules.ts';
import type { CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { SandboxDefinition } from '../../../domain/orgs/crm/crm-sandboxes.port.ts';
import type { SandboxOf } from '../../../domain/orgs/crm-orgs/crm-orgs.mutations.ts';
import type { ChangesInOrg } from '../../../domain/orgs/org-explorer/changes-in-org.queries.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../../domain/unit-of-work.ts';
import type { Deps } from '../../deps.ts';

/** A run that changes a sandbox, with the calls of its production org. */
export interface SandboxWork {
  deps: Deps;
  tenant: TenantKey;
  run: RunContext;
  act: SandboxAct;
  sandbox: SandboxOf;
  calls: CrmOrg;
  /** Units of work of the service itself. */
  unit: UnitOfWork;
  signal: AbortSignal;
}

/** What was found out before production was asked: the result of the first step of a run. */
export interface CheckedSandbox {
  /** Null before a sandbox is created. */
  sandboxInfoId: string | null;
  /** The newest copy by then. */
  lastCopyId: string | null;
  /** The platform's id of the org that the sandbox is until it is copied anew, 18 characters; null: there is none. */
  formerOrgId: string | null;
  definition: SandboxDefinition;
  /** Minutes that copies with the same type of licence took; absent where there were none. */
  usualMinutes?: number | undefined;
  /** What was changed in the sandbox since it was copied, which is lost with it; null: it is not known. */
  changesInIt?: ChangesInOrg | null;
}

/** It cannot go: the step, and with it the run, fails. */
export const cannotGo = (why: string): DomainError => new DomainError('flow_unavailable', why);

export const move = ({ unit }: SandboxWork, step: StepRow, change: StepMove): Promise<StepRow> =>
  unit((tx) => moved(tx, step, change));

/** Moves a step on; throws where it has ended meanwhile. */
export async function moved(tx: Tx, step: StepRow, change: StepMove): Promise<StepRow> {
  const row = await moveStep(tx, step.id, change);
  if (!row) throw new Error(`the step ${step.name} has ended meanwhile`);
  return row;
}
