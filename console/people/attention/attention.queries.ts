import { listAttention, listFlowRuns } from '@quayside/client';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

export const SHOWN_MAX = 50;

/** What a person should look at, from every feature: nearly every change may be about it. */
export const attentionQuery = (filters: { project: string | undefined; kind: string | undefined; isAll: boolean }) =>
  ask(
    ['attention', filters],
    (signal) =>
      listAttention({
        client,
        signal,
        query: {
          limit: SHOWN_MAX,
          includeAcknowledged: filters.isAll,
          ...(filters.project && { repositoryIdentifier: filters.project }),
          ...(filters.kind && { kinds: filters.kind }),
        },
      }),
    {
      isList: true,
      topics: [
        'application_token',
        'approval',
        'attention_item',
        'crm_org',
        'environment_lock',
        'flow_run',
        'flow_schedule',
        'git_mirror',
        'org_limit',
        'webhook',
        'webhook_delivery',
      ],
    },
  );

export const recentRunsQuery = (project: string | undefined) =>
  ask(
    ['runs', 'recent', project],
    (signal) =>
      listFlowRuns({ client, signal, query: { limit: 12, ...(project && { repositoryIdentifier: project }) } }),
    { isList: true, topics: ['flow_run'] },
  );
