import { z } from 'zod';
import type { Commands } from '../../../domain/delivery/flows/programs/commands-file.ts';
import { dryRun } from '../../../domain/delivery/flows/dry-run.ts';
import { runWarnings } from '../../../domain/delivery/flows/gates/run-warnings.ts';
import { type AcceptedRun, acceptNewRun } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { rerun } from '../../../domain/delivery/flows/reruns.mutations.ts';
import { runDetail } from '../../../domain/delivery/flows/run-detail.queries.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, queryFlag } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { DryRunOut, RerunIn, RunIn, RunStarted } from './flow-starts.schemas.ts';

const GROUP = 'Flows';

/**
 * Accepts a run and starts its workflow after the commit.
 * @param payload default: that of the run, which is read.
 */
async function start(
  scope: Pick<Scope, 'tx' | 'adapters' | 'now' | 'requestId'>,
  accept: (tx: Tx, options: { requestId: string; commands: Commands }) => Promise<AcceptedRun>,
  payload?: Record<string, unknown>,
) {
  const { requestId, adapters } = scope;
  const { accepted, warnings } = await scope.tx(async (tx) => {
    const run = await accept(tx, { requestId, commands: adapters.flows.commands });
    const { payload: checked } = payload ? { payload } : await runDetail(tx, run.runId);
    return { accepted: run, warnings: await runWarnings(tx, tx.actor, checked) };
  });
  scope.adapters.launch.startInBackground(flowRunContract, accepted);
  return {
    id: accepted.runId,
    taskType: accepted.taskType,
    status: 'started' as const,
    triggeredAt: scope.now(),
    warnings,
  };
}

export const flowStartsRoutes = [
  defineRoute({
    operationId: 'startFlowRun',
    method: 'post',
    path: '/api/flows/run',
    group: GROUP,
    summary: 'Start a run of a flow',
    description: [
      'The run is stored and listed immediately, and executed as soon as the workflow engine and a worker are available. A flow type that nothing here executes is refused with 409 `flow_unavailable`, and the detail says what would make it available. `rollback-release` deploys the release that the environment ran before, or `toReleaseName`; if there is nothing to roll back to, the reply is 409 with the reason.',
      'A type that takes a release to environments (`execute-release`, `request-release`, `rollback-release`) is refused for a release candidate that does not exist in the domain (404), was aborted, or is on a branch that the environment does not take (409); all of that, and that its content is the one that was approved, is checked again right before the work begins. `execute-release` is also refused (409, with `nextWindowAt`) while the release must first be deployed elsewhere, or for longer (`promotion.after`, `soakMinutes`); the child runs of `request-release` wait for that, and a rollback needs none of it.',
      'The approval is requested immediately. One that could never be given, since without those who ask for it too few people may, refuses the run (409 `too_few_approvers`). Then a run that takes a release, installs something (`install-packages`, `install-artifacts`, `install-changeset`), or refreshes, activates or deletes a sandbox (`request-sandbox-refresh`, `request-sandbox-activate`, `request-sandbox-delete`) waits in `waiting_window` while an environment of its org is outside its windows or frozen, and its `nextWindowAt` says until when; with `failOutsideWindow` it fails instead. An owner passes windows, freezes, `after` and `soakMinutes` with `override: {reason}`, but nothing else: a release candidate that is held is refused (409 `held`, with `hold`), and a run that was accepted before waits in `waiting_hold`.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      dryRun: queryFlag(false).meta({
        description:
          'Say what would become of the run, by the same rules, and keep nothing: 200, also where it would be refused, with its gates as they are',
      }),
    }),
    body: RunIn,
    status: 202,
    otherStatuses: [200],
    response: z.union([RunStarted, DryRunOut]),
    errors: ['flow_unavailable', 'too_few_approvers', 'invalid_transition'],
    audit: ['flow.run_requested', 'promotion.overridden', 'work_item_request.updated'],
    async handle({ query, body: { payload } }, scope) {
      const { tx, requestId, adapters } = scope;
      if (query.dryRun) {
        const commands = adapters.flows.commands;
        const { git, releases } = adapters;
        const source = { commitGraphs: git.commitGraphs, deploymentLogs: releases.deploymentLogs };
        return reply(await dryRun(tx, payload, { requestId, commands, source }), { status: 200 });
      }
      return start(scope, (work, options) => acceptNewRun(work, payload, options), payload);
    },
  }),
  defineRoute({
    operationId: 'rerunFlowRun',
    method: 'post',
    path: '/api/flows/runs/{id}/rerun',
    group: GROUP,
    summary: 'Rerun a run that has ended',
    description:
      'Starts a new run with the same payload, or with `payload` of the body, which names the same type, repository, environment and domain, and for a child run the same release. It is checked as in `POST /api/flows/run`; one with an override can be rerun by owners only. Rerunning a child run creates the latest attempt of that child.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: RerunIn,
    status: 202,
    response: RunStarted,
    errors: ['flow_unavailable', 'too_few_approvers', 'invalid_transition'],
    audit: ['flow.run_requested', 'promotion.overridden', 'work_item_request.updated'],
    handle: ({ params: { id }, body }, scope) =>
      start(scope, (tx, options) => rerun(tx, id, { ...options, given: body?.payload })),
  }),
];
