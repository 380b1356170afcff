import { endFromOutside } from '../../../domain/delivery/verification/verifications.mutations.ts';
import { stalledVerifications } from '../../../domain/delivery/verification/verifications.queries.ts';
import {
  verificationChangedSignal,
  verificationContract,
} from '../../../workflows/delivery/verification/verification.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';
import { settled } from './verification.activities.ts';

/** Goes on with verifications whose workflows were lost, and ends those whose workflows somebody ended. */
export const verificationsSweep = defineSweep({
  name: 'verifications',
  limit: 200,
  due: ({ system }, limit) => stalledVerifications(system, limit),
  key: ({ id }) => id,
  async handle(deps, { id: verificationId, ...tenant }) {
    const input = { ...tenant, verificationId };
    const state = await deps.launch.stateOf(verificationContract, input);
    if (state === 'running') return 0;
    if (state === 'terminated' || state === 'cancelled')
      await settled(deps, tenant, (tx) => endFromOutside(tx, verificationId));
    else await deps.launch.signalWithStart(verificationContract, input, verificationChangedSignal);
    return 1;
  },
});
