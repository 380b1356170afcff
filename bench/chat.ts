import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { newId } from '../domain/kernel/shared/ids.ts';
import { slackSimulator } from '../test/simulators/slack/slack.ts';
import { Figures, quantile } from './figures.ts';
import { startService } from './service.ts';

/**
 * Measures over HTTP, at a simulated Slack: how fast commands are acknowledged at 50 a second, the way from a click to the
 * decision and to the changed message, and that from an event to its message. Options: `--rounds 3`, `--seconds 4`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '4' } },
});
const COMMANDS_A_SECOND = 50;
const CLICKS_A_SECOND = 5;
const EVENTS_A_SECOND = 20;
const SETTLED_MS = 15_000;
const repositoryIdentifier = 'bench/chat';

const slack = await slackSimulator();
process.env.SLACK_API_URL = slack.apiUrl;
const service = await startService(['approvals-v1', 'webhooks-v1']);
try {
  const { database, tenantId } = service;
  const workspace = slack.addWorkspace('Bench');
  const channel = workspace.addChannel('C0BENCH');
  workspace.createApp(await service.call('GET', '/api/slack/manifest'));
  await service.call('POST', '/api/slack/workspace', workspace.connection);
  const { id: projectId } = await service.call('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  await service.call('POST', '/api/webhooks', {
    name: 'chat',
    event: 'bench.measured',
    provider: 'slack',
    config: { channel },
  });
  const { rows } = await database.query<{ email: string }>('select email from user_account');
  const owner = workspace.addUser('owner', rows[0]?.email ?? '');

  /** Does something so many times a second. */
  const paced = async (perSecond: number, act: (index: number) => Promise<void>): Promise<number> => {
    const count = Math.ceil(perSecond * Number(options.seconds));
    const startedAt = performance.now();
    const open: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      const wait = startedAt + (index * 1_000) / perSecond - performance.now();
      if (wait > 1) await sleep(wait);
      open.push(act(index));
    }
    await Promise.all(open);
    return count;
  };
  const until = async (isSettled: () => Promise<boolean> | boolean): Promise<void> => {
    for (const giveUpAt = Date.now() + SETTLED_MS; !(await isSettled()) && Date.now() < giveUpAt; ) await sleep(50);
  };
  const isIdle = async () => {
    const pending = await database.query(`select 1 from chat_action where status = 'pending' limit 1`);
    return pending.rows.length === 0;
  };
  /** An open approval of a run that waits for nothing else, with a message about it. */
  const addApproval = async (): Promise<{ id: string; ts: string }> => {
    const [id, runId] = [newId(), newId()];
    await database.query(
      `insert into flow_run (id, tenant_id, project_id, has_workflow, task_type, category, flow_path, execution_mode, status, display_status,
         payload, triggered_by, requested_by)
       values ($1, $2, $3, false, 'execute-release', 'release', 'bench', 'flow', 'waiting_approval', 'Waiting', '{}', 'bench', '{}')`,
      [runId, tenantId, projectId],
    );
    await database.query(
      `insert into approval (id, tenant_id, project_id, repository_identifier, run_id, task_type, status, approvers, min_approvals,
         allow_self_approval, expires_at, requester_id, requested_by)
       values ($1, $2, $3, $4, $5, 'execute-release', 'requested', '{}', 1, true, now() + interval '1 day', 'bench', 'bench')`,
      [id, tenantId, projectId, repositoryIdentifier, runId],
    );
    const { ts } = workspace.post(channel, 'an approval', []);
    await database.query(
      `insert into chat_message (tenant_id, workspace_id, channel, ts, approval_id) select $1, id, $2, $3, $4 from chat_workspace where tenant_id = $1`,
      [tenantId, channel, ts, id],
    );
    return { id, ts };
  };

  await paced(5, async () => void (await workspace.command(owner, 'help')));
  await until(isIdle);
  const figures = new Figures();
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const statuses: number[] = [];
    const acknowledged: number[] = [];
    let cpu = service.measureCpu();
    const commands = await paced(COMMANDS_A_SECOND, async (index) => {
      const { ms, status } = await workspace.command(owner, `help ${round} ${index}`);
      acknowledged.push(ms);
      statuses.push(status);
    });
    await until(isIdle);
    figures.noteCpu('a command, with its answer', cpu(), commands);
    figures.note('50 commands a second: acknowledged, p50', quantile(acknowledged, 0.5));
    figures.note('50 commands a second: acknowledged, p95', quantile(acknowledged, 0.95), 'ms', '<= 30');

    const approvals: { id: string; ts: string }[] = [];
    for (let index = 0; index < CLICKS_A_SECOND * Number(options.seconds); index++) approvals.push(await addApproval());
    const clickedAt = new Map<string, number>();
    await paced(CLICKS_A_SECOND, async (index) => {
      const { id, ts } = approvals[index] ?? { id: '', ts: '' };
      const message = workspace.messages.find((each) => each.ts === ts);
      if (!message) return;
      clickedAt.set(id, Date.now());
      const button = { actionId: 'approval.approve', value: id, text: 'Approve' };
      statuses.push((await workspace.send(workspace.clickRequest(owner, message, button))).status);
    });
    const changed = () => slack.calls.filter(({ method }) => method === 'chat.update');
    await until(() => approvals.every(({ ts }) => changed().some((call) => call.arguments.ts === ts)));
    const decided = await database.query<{ id: string; resolved_at: Date }>(
      'select id, resolved_at from approval where id = any ($1::uuid[]) and resolved_at is not null',
      [approvals.map(({ id }) => id)],
    );
    const decidedMs = decided.rows.map(({ id, resolved_at: at }) => at.getTime() - (clickedAt.get(id) ?? 0));
    figures.note('click to decision, p50', quantile(decidedMs, 0.5));
    figures.note('click to decision, p95', quantile(decidedMs, 0.95), 'ms', '<= 250');
    const changedMs = approvals.flatMap(({ id, ts }) => {
      const call = changed().find((each) => each.arguments.ts === ts);
      return call ? [call.at - (clickedAt.get(id) ?? 0)] : [];
    });
    figures.note('click to changed message, p95', quantile(changedMs, 0.95));
    figures.note('clicks without a decision', approvals.length - decidedMs.length, '', '0');

    const sentAt = new Map<string, number>();
    cpu = service.measureCpu();
    const events = await paced(EVENTS_A_SECOND, async (index) => {
      const name = `${round}-${index}`;
      sentAt.set(name, Date.now());
      await service.call('POST', '/api/webhooks/trigger', { event: 'bench.measured', payload: { name } });
    });
    const arrived = () =>
      slack.calls.flatMap(({ method, arguments: given, at }) => {
        const [, name = ''] = /\*name\*\\n([\d-]+)/.exec(JSON.stringify(given.blocks ?? [])) ?? [];
        const since = sentAt.get(name);
        return method === 'chat.postMessage' && since !== undefined ? [at - since] : [];
      });
    await until(() => arrived().length >= events);
    figures.noteCpu('a notification', cpu(), events);
    figures.note('event to message, p50', quantile(arrived(), 0.5));
    figures.note('event to message, p95', quantile(arrived(), 0.95), 'ms', '<= 60');
    figures.note('messages missing', events - arrived().length, '', '0');
    figures.note('other answers than 200', statuses.filter((status) => status !== 200).length, '', '0');
    slack.calls.length = 0;
  }
  figures.print();
} finally {
  await service.stop();
  await slack.close();
}
