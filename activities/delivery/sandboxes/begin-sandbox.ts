import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import {
  ACTIVATE,
  CREATE,
  DELETE,
  REFRESH,
  type SandboxAct,
} from '../../../domain/delivery/sandboxes/sandbox-rules.ts';
import type { CrmAnswer } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { SandboxCopy } from '../../../domain/orgs/crm/crm-sandboxes.port.ts';
import { type Beginning, beginOnce, CANNOT_TELL } from '../org-steps/begin-once.ts';
import type { CheckedSandbox, SandboxWork } from './sandbox-work.ts';

const LOOK_AT = 'Sandboxes in Setup of the production org';
/** By which the clocks of production and of the service may differ. */
const CLOCKS_MS = 5 * 60_000;

/** Asks production for what a run does, once; the step has the id of the sandbox then, or of its copy that is activated. */
export const beginSandbox = (work: SandboxWork, step: StepRow, checked: CheckedSandbox): Promise<StepRow> =>
  beginOnce(work.deps, work.tenant, step, { ...BEGINNINGS[work.act](work, checked), lookAt: LOOK_AT });

type Begin = (work: SandboxWork, checked: CheckedSandbox) => Pick<Beginning, 'create' | 'find'>;

const BEGINNINGS: Readonly<Record<SandboxAct, Begin>> = {
  [CREATE]: ({ calls, sandbox: { name } }, { definition, lastCopyId }) => ({
    create: async () => then(await calls.createSandbox({ name, ...definition }), ({ sandboxInfoId }) => sandboxInfoId),
    async find(askedAt) {
      const defined = await calls.sandboxDefinition(name);
      if (!defined.isOk) return defined;
      if (!defined.value) return { isOk: true, value: null };
      const isOwn = (copy: SandboxCopy) =>
        copy.id !== lastCopyId && Date.parse(copy.createdAt) >= askedAt.getTime() - CLOCKS_MS;
      const { id } = defined.value;
      return then(await calls.sandboxCopies({ name }), ([copy]) => (copy && isOwn(copy) ? id : CANNOT_TELL));
    },
  }),
  [REFRESH]: ({ calls, sandbox: { name } }, { definition, lastCopyId, sandboxInfoId }) => ({
    create: async () =>
      then(await calls.refreshSandbox(String(sandboxInfoId), definition), () => String(sandboxInfoId)),
    find: async () =>
      then(await calls.sandboxCopies({ name }), ([copy]) => (copy && copy.id !== lastCopyId ? sandboxInfoId : null)),
  }),
  [ACTIVATE]: ({ calls, run }, { lastCopyId }) => ({
    create: async () =>
      then(await calls.decideSandbox(String(lastCopyId), isDiscard(run) ? 'DISCARD' : 'ACTIVATE'), () =>
        String(lastCopyId),
      ),
    find: async () =>
      then(await calls.sandboxCopies({ id: String(lastCopyId) }), ([copy]) =>
        copy?.stage === 'pending_activation' ? null : lastCopyId,
      ),
  }),
  [DELETE]: ({ calls, sandbox: { name } }, { sandboxInfoId }) => ({
    async create() {
      const deleted = await calls.deleteSandbox(String(sandboxInfoId));
      const isGone = deleted.isOk || deleted.kind === 'not_found';
      return isGone ? { isOk: true, value: String(sandboxInfoId) } : deleted;
    },
    find: async () =>
      then(await calls.sandboxDefinition(name), (defined) => (defined?.id === sandboxInfoId ? null : sandboxInfoId)),
  }),
};

export const isDiscard = ({ payload }: SandboxWork['run']): boolean => payload.action === 'discard';

const then = <Value, Other>(answer: CrmAnswer<Value>, map: (value: Value) => Other): CrmAnswer<Other> =>
  answer.isOk ? { isOk: true, value: map(answer.value) } : answer;
