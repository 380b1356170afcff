import {
  type Approval,
  type ApprovalWithSteps,
  dataOf,
  type FlowRunDetail,
  getApproval,
  getFlowRun,
  grantApproval,
  rejectApproval,
} from '@quayside/client';
import { type Context, ifFound, until } from '../context.ts';
import { ambiguous, CommandError, EXIT, missing } from '../exit.ts';
import { fields, type Outcome } from '../output.ts';
import { isOpen } from './runs.ts';

type Status = Approval['status'];
const STATUSES: readonly Status[] = ['requested', 'approved', 'rejected', 'expired', 'stale'];

const shown = ({
  id,
  status,
  environmentName,
  releaseName,
  approvers,
  minApprovals,
  resolvedBy,
  comment,
  executionId,
}: Approval) =>
  fields({
    approval: id,
    status,
    environment: environmentName,
    release: releaseName,
    approvers: status === 'requested' ? `${minApprovals} of ${approvers.join(', ') || 'the owners'}` : undefined,
    by: resolvedBy,
    comment,
    run: executionId,
  });

/** The approval of that id; undefined: there is none. */
const byId = ({ client }: Context, id: string): Promise<ApprovalWithSteps | undefined> =>
  ifFound(getApproval({ client, path: { id } }));

interface OfRun {
  approvals: Approval[];
  /** Whether the run may still come to ask for one. */
  mayCome: boolean;
}

/** The approvals of a run and of its child runs, open ones before those that are decided. */
async function ofRun(context: Context, id: string): Promise<OfRun> {
  const { client } = context;
  const run = await dataOf(getFlowRun({ client, path: { id } }));
  const ids = new Set(namedBy(run));
  for (const child of run.children)
    for (const approvalId of namedBy(await dataOf(getFlowRun({ client, path: { id: child.id } })))) ids.add(approvalId);
  const found: Approval[] = [];
  for (const approvalId of ids) {
    const approval = await byId(context, approvalId);
    if (approval !== undefined) found.push(approval);
  }
  const status = STATUSES.find((each) => found.some((approval) => approval.status === each));
  return { approvals: found.filter((approval) => approval.status === status), mayCome: isOpen(run) };
}

const namedBy = ({ states }: FlowRunDetail): string[] => states.flatMap(({ approvalId }) => approvalId ?? []);

function onlyOne(approvals: readonly Approval[], id: string): Approval {
  const [only] = approvals;
  if (only === undefined) throw missing(`Nothing asks for approval under ${id}`);
  if (approvals.length > 1)
    throw ambiguous(
      `The run has several approvals, for ${approvals.map(({ environmentName }) => environmentName).join(', ')}`,
      approvals.map((each) => each.id),
    );
  return only;
}

/** Waits until it is decided. A run that has asked for none yet is waited for. */
export async function waitForApproval(context: Context, id: string): Promise<Outcome> {
  let approval = (await byId(context, id)) as Approval | undefined;
  if (approval === undefined) {
    const found = await until(
      context,
      () => ofRun(context, id),
      ({ approvals, mayCome }) => approvals.length > 0 || !mayCome,
    );
    if (found.approvals.length === 0)
      throw new CommandError(EXIT.failed, 'not_asked', 'The run has ended, and nobody was asked to approve it');
    approval = onlyOne(found.approvals, id);
  }
  const { id: approvalId, status, approvers } = approval;
  if (status === 'requested') context.say(`waiting for ${approvers.join(', ') || 'an owner'}`);
  const data = await until(
    context,
    () => dataOf(getApproval({ client: context.client, path: { id: approvalId } })),
    (now) => now.status !== 'requested',
  );
  return { data, text: shown(data), exitCode: data.status === 'approved' ? 0 : EXIT.failed };
}

export async function decide(
  context: Context,
  id: string,
  vote: 'approve' | 'reject',
  { comment }: { comment?: string },
): Promise<Outcome> {
  const { client } = context;
  const approval = (await byId(context, id)) ?? onlyOne((await ofRun(context, id)).approvals, id);
  const body = comment === undefined ? {} : { comment };
  const call = { client, path: { id: approval.id }, body, headers: context.keyed(body) };
  const data = await dataOf(vote === 'approve' ? grantApproval(call) : rejectApproval(call));
  return { data, text: shown(data) };
}
