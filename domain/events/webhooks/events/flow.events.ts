import { z } from 'zod';
import {
  byWhom,
  defineEvent,
  defineEvents,
  domain,
  environmentName,
  id,
  dateTime,
  number,
  numberMap,
  reason,
  releaseName,
  repositoryIdentifier,
  text,
  texts,
} from './event-definition.ts';

const Approval = z.strictObject({
  id: id('Approval'),
  executionId: text('Run that waits for it', 'b0c9c6f2').nullable().optional(),
  taskType: text('What is to be approved', 'release-to-environment'),
  repositoryIdentifier: repositoryIdentifier.nullable().optional(),
  environmentName: environmentName.nullable().optional(),
  domain: domain.nullable().optional(),
  releaseName: releaseName.nullable().optional(),
  status: text('requested, approved, rejected, expired or stale', 'approved'),
  approvers: texts('E-mails and team slugs of those who may decide', ['platform']).optional(),
  requestedBy: byWhom,
  requestedAt: dateTime('When it was requested'),
  resolvedBy: byWhom.nullable().optional(),
  resolvedAt: dateTime('When it was decided').nullable().optional(),
  comment: text('Comment of the person who decided', 'checked in staging').nullable().optional(),
});

const nextWindowAt = dateTime('When it can go on, as far as that is known').nullable().optional();

const Flow = z.strictObject({
  id: id('Run'),
  taskType: text('Type of the flow', 'release-to-environment'),
  status: text('Status of the run: Waiting, Running, Completed, Partial, Failed or Cancelled', 'Completed'),
  repositoryIdentifier: repositoryIdentifier.nullable().optional(),
  environmentName: environmentName.nullable().optional(),
  parentId: id('Run that this one belongs to').nullable().optional(),
  startedBy: byWhom.nullable().optional(),
  startedAt: dateTime('When it began').nullable().optional(),
  endedAt: dateTime('When it ended').nullable().optional(),
  durationMs: number('Milliseconds from start to end', 84_000).nullable().optional(),
  error: text('What went wrong', 'the pipeline was cancelled').nullable().optional(),
});

const WaitingFlow = Flow.extend({
  nextWindowAt,
  reason: text('What it waits for', 'production is frozen until 2027-01-04T00:00:00Z: year end'),
});

const FlowInProgress = z.strictObject({
  id: id('Run'),
  taskType: text('Type of the flow', 'install-artifacts'),
  status: text('Status of the run', 'Running'),
  repositoryIdentifier: repositoryIdentifier.nullable().optional(),
  environmentName: environmentName.nullable().optional(),
  parentId: id('Run that this one belongs to').nullable().optional(),
  startedBy: byWhom.nullable().optional(),
  step: text('What it is at', 'Deploy'),
  percent: number('How far the step is, as far as the org says it', 40).nullable().optional(),
  counts: numberMap('What the org counts', { components: 30, componentsDone: 12 }).nullable().optional(),
});

const Overridden = z.strictObject({
  executionId: id('Run that has the override'),
  taskType: text('Type of the flow', 'execute-release'),
  repositoryIdentifier: repositoryIdentifier.nullable().optional(),
  environmentName: environmentName.nullable().optional(),
  domain: domain.nullable().optional(),
  releaseName: releaseName.nullable().optional(),
  reason: text('Why, in the words of the owner', 'fix of the checkout outage'),
  by: byWhom,
  at: dateTime('When the run was requested'),
});

export const flowEvents = {
  ...defineEvents(Approval, {
    'approval.requested': 'An approval was requested',
    'approval.approved': 'An approval was given',
    'approval.rejected': 'An approval was rejected',
    'approval.expired': 'Nobody decided on an approval in time',
    'approval.stale':
      'An approval became stale: packages changed, the candidate was aborted, or a newer request replaced it',
  }),
  'flow.waiting': defineEvent(
    'A flow run waits for a window of its environment, for what comes before, or for calls of its org',
    WaitingFlow,
  ),
  'flow.progress': defineEvent(
    'A flow run that the service itself executes is at another step, or further on; at most once a second',
    FlowInProgress,
  ),
  'promotion.overridden': defineEvent(
    'An owner overrode windows, freezes and what must be deployed before, for one run',
    Overridden,
  ),
  ...defineEvents(Flow, {
    'flow.started': 'A flow run began',
    'flow.completed': 'A flow run succeeded, in whole or in part',
    'flow.failed': 'A flow run failed',
    'flow.cancelled': 'A flow run was cancelled',
  }),
  'privileges.expired': defineEvent(
    'The time of rights that a run gave people in an org is over: they were taken back, or could not be',
    z.strictObject({
      executionId: id('Run that gave them'),
      orgUsername: text('Username of the org', 'ci@acme.example'),
      usernames: texts('People', ['ada@acme.example']),
      permissionSets: texts('Permission sets and groups', ['Deploy_Admin']),
      isTakenBack: z.boolean().meta({
        description: 'False: they may still be there; the service goes on trying',
        example: true,
      }),
      error: text('Why they could not be taken back', 'The org could not be reached').nullable(),
    }),
  ),
  'work_item_request.updated': defineEvent(
    'A request made in a work item is new, or has another status',
    z.strictObject({
      id: id('Request'),
      platform: text('Tracker', 'host-a'),
      project: text('Project', 'acme/storefront'),
      repositoryIdentifier: repositoryIdentifier.nullable().optional(),
      workItemId: text('Work item; null until the tracker has confirmed it', '4711').nullable(),
      workItemUrl: text('Address of the work item', 'https://tracker.example.com/4711').nullable().optional(),
      taskType: text('Type of the requested flow, as far as it is known', 'request-sandbox-create').nullable(),
      releaseCandidate: text('Release candidate, `domain:name`', 'sales:2026.03').nullable().optional(),
      executionId: text('The newest execution', 'b0c9c6f2').nullable().optional(),
      status: text('creating, open, in_progress, completed, closed or failed', 'in_progress'),
      previousStatus: text('Status before', 'open').nullable().optional(),
      reason: reason.nullable().optional(),
    }),
  ),
};
