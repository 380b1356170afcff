import { runsWithOverdueGrants } from '../../../domain/delivery/org-people/privilege-grants.queries.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';
import { takeBackOpenGrants } from './take-back-privileges.ts';

const ROW_TIMEOUT_MS = 60_000;

/** Takes back what runs gave people whose workflows were lost: their own take it back at its time. */
export const privilegeGrantsSweep = defineSweep({
  name: 'privilege-grants',
  everyMs: 30_000,
  rowTimeoutMs: ROW_TIMEOUT_MS,
  due: ({ system }, limit) => runsWithOverdueGrants(system, limit),
  key: ({ runId }) => runId,
  async handle(deps, row) {
    await takeBackOpenGrants(deps, row, AbortSignal.timeout(ROW_TIMEOUT_MS));
  },
});
