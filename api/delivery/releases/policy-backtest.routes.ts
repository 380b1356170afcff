import { backtestPolicy, DEPLOYMENTS_MAX } from '../../../domain/delivery/releases/measures/policy-backtest.ts';
import { findProject } from '../../../domain/projects/projects/projects.queries.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byIdentifier } from '../../http/parameters.ts';
import { Backtest, BacktestIn } from './policy-backtest.schemas.ts';

export const policyBacktestRoutes = [
  defineRoute({
    operationId: 'backtestPolicy',
    method: 'post',
    path: '/api/projects/{identifier}/policy-backtest',
    group: 'Releases',
    summary: 'Try a policy on the deployments of the past',
    description: [
      'Says what would have become of the deployments to environments under a policy, by the rules of runs: which would have been refused, which would have gone later, and what that does to the lead time. Nothing is stored.',
      'Each deployment is looked at by itself, as if those before it had been made as they were. `after` and soak go by `deployedAt`, since reports of imported history were received later. A release that was not deployed where it must be first, or is not verified there, is refused; an unmet soak, a closed window and a freeze cost the time until they let it go; an approval, where the deployment came with none, costs the median time in which those of its environment were given.',
      `At most 180 days and ${DEPLOYMENTS_MAX} deployments.`,
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byIdentifier,
    body: BacktestIn,
    status: 200,
    response: Backtest,
    audit: { none: 'reads' },
    async handle({ params: { identifier }, body }, { reads, adapters: { releases } }) {
      const project = await findProject(reads, identifier);
      if (!project) throw notFound(`Project ${identifier}`);
      const log = await releases.deploymentLogs(reads, project.id);
      return { environments: await backtestPolicy(reads, log, project, body) };
    },
  }),
];
