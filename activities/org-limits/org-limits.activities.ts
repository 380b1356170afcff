import { createPollStore } from '../../domain/org-limits/poll-store.queries.ts';
import type { Deps } from '../deps.ts';
import { createPollPumpActivities, type PollPumpActivities } from './poll-pump.activities.ts';

/** The activities that poll the limits of orgs. */
export const createOrgLimitActivities = ({ system, orgPolls }: Deps): PollPumpActivities =>
  createPollPumpActivities({ store: createPollStore(system), polls: orgPolls });
