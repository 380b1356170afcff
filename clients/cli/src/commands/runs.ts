import {
  cancelFlowRun,
  dataOf,
  type FlowDryRun,
  type FlowRunDetail,
  getFlowRun,
  getFlowRunOutput,
  listFlowTypes,
  ProblemError,
  startFlowRun,
} from '@quayside/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertDryRun, type Context, until } from '../context.ts';
import { EXIT } from '../exit.ts';
import { pair, parseObject, setMembers, textOf } from '../input.ts';
import { fields, type Outcome } from '../output.ts';

const OPEN: ReadonlySet<string> = new Set(['Waiting', 'Running']);
export const isOpen = ({ status }: { status: string }): boolean => OPEN.has(status);

/** A run for people. */
const shown = ({
  id,
  taskType,
  status,
  environmentName,
  releaseName,
  success,
  waitsFor,
  policyViolations,
}: FlowRunDetail) =>
  fields({
    run: id,
    type: taskType,
    status,
    environment: environmentName,
    release: releaseName,
    waitsFor,
    error: success?.error,
    policy: policyViolations.map(({ detail }) => detail).join('; '),
  });

const ended = (run: FlowRunDetail): Outcome => ({
  data: run,
  text: shown(run),
  exitCode: run.success?.isSuccess === true ? 0 : EXIT.failed,
});

/** Follows a run to its end, and says where it is as that changes. */
export async function waitForRun(context: Context, id: string): Promise<Outcome> {
  const { client } = context;
  let said = '';
  const run = await until(
    context,
    async () => {
      const now = await dataOf(getFlowRun({ client, path: { id } }));
      const text = `${now.taskType} ${now.rawStatus}${now.waitsFor === null ? '' : `: ${now.waitsFor}`}`;
      if (text !== said) context.say(text);
      said = text;
      return now;
    },
    (now) => !isOpen(now),
  );
  return ended(run);
}

export async function startRun(
  context: Context,
  type: string,
  options: { payload?: string; set: string[]; wait?: boolean; dryRun?: boolean },
): Promise<Outcome> {
  const given = options.payload === undefined ? {} : parseObject(textOf(options.payload), 'the payload');
  // What is wrong with them is said before anything is asked.
  for (const each of options.set) pair(each);
  const isText = options.set.length > 0 ? await textMembers(context, type) : () => true;
  const payload = setMembers({ ...given, id: type }, options.set, isText);
  const repository = payload.repositoryIdentifier ?? context.detected();
  if (repository !== undefined) payload.repositoryIdentifier = repository;
  return startPayload(context, payload, options);
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
}

/** Which members of a type's payload take texts, as the service says of the type. */
async function textMembers({ client }: Context, type: string): Promise<(path: readonly string[]) => boolean> {
  const types = await dataOf(listFlowTypes({ client }));
  const schema = types.find(({ id }) => id === type)?.payloadSchema as Schema | undefined;
  return (path) => {
    const member = path.reduce<Schema | undefined>((at, name) => at?.properties?.[name], schema);
    return member?.type === 'string';
  };
}

/** Starts a run by its payload, or says what would become of it. */
export async function startPayload(
  context: Context,
  payload: Record<string, unknown>,
  { wait, dryRun }: { wait?: boolean; dryRun?: boolean },
): Promise<Outcome> {
  const { client } = context;
  const body = { payload };
  if (dryRun) await assertDryRun(context, '/api/flows/run');
  // A dry run is asked anew each time.
  const how = dryRun ? { query: { dryRun } } : { headers: context.keyed(body) };
  const started = await dataOf(startFlowRun({ client, body, ...how }));
  if (!('id' in started)) return dryRunOutcome(started);
  for (const { message } of started.warnings) context.say(`warning: ${message}`);
  context.say(`run ${started.id}`);
  return wait ? waitForRun(context, started.id) : { data: started, text: started.id };
}

/** What would not start ends as the refusal would. */
function dryRunOutcome(data: FlowDryRun): Outcome {
  const { wouldStart, refusal } = data;
  if (wouldStart) return { data, text: `would start\n${fields({ ...data, wouldStart: undefined })}` };
  const exitCode = REFUSALS[refusal?.code ?? ''] ?? EXIT.conflict;
  return { data, text: `would not start: ${refusal?.detail ?? 'no reason is given'}`, exitCode };
}

const REFUSALS: Record<string, number> = {
  forbidden: EXIT.refused,
  not_found: EXIT.missing,
  invalid_request: EXIT.failed,
  unprocessable: EXIT.failed,
};

export async function cancelRun(context: Context, id: string): Promise<Outcome> {
  const { client } = context;
  const data = await dataOf(cancelFlowRun({ client, path: { id }, headers: context.keyed({ id }) }));
  return { data, text: `${data.taskType} ${data.rawStatus}` };
}

const FOLLOW_MS = 1_000;

/** The output of a run; with `follow`, as it comes, until the run has ended. */
export async function runLogs(
  context: Context,
  id: string,
  { follow }: { follow?: boolean },
): Promise<Outcome | undefined> {
  const { client } = context;
  if (!follow) {
    const text = await dataOf(getFlowRunOutput({ client, path: { id } }));
    return { data: { output: text }, text: text.replace(/\n$/, '') };
  }
  let from = 0;
  // A piece may end within a character.
  const decoder = new TextDecoder();
  for (;;) {
    const run = await dataOf(getFlowRun({ client, path: { id } }));
    const more = await outputFrom(context, id, from);
    const text = more === undefined ? '' : decoder.decode(more.bytes, { stream: true });
    if (text !== '' && context.isJson) context.line({ output: text }, '');
    else if (text !== '') process.stdout.write(text);
    from = more?.next ?? from;
    if (!isOpen(run)) {
      const outcome = ended(run);
      context.say(`${run.taskType} ${run.rawStatus}`);
      return outcome.exitCode === 0 ? undefined : { ...outcome, text: '' };
    }
    await sleep(FOLLOW_MS, undefined, { signal: context.signal });
  }
}

interface Piece {
  bytes: Buffer;
  /** Position in all of the output at which the next piece begins. */
  next: number;
}

/** What of the output is behind so many bytes; undefined while there is none. A service without ranges answers all of it. */
async function outputFrom({ client }: Context, id: string, from: number): Promise<Piece | undefined> {
  const { data, error, response } = await getFlowRunOutput({
    client,
    path: { id },
    parseAs: 'arrayBuffer',
    headers: from > 0 ? { range: `bytes=${from}-` } : {},
  });
  if (data !== undefined) {
    const all = Buffer.from(data as unknown as ArrayBuffer);
    // What was printed long ago is not kept while the run goes on.
    const offset = Number(response?.headers.get('x-output-offset') ?? (response?.status === 206 ? from : 0));
    return { bytes: all.subarray(Math.max(0, from - offset)), next: Math.max(from, offset + all.byteLength) };
  }
  if (error.status === 404 || error.status === 416) return undefined;
  throw new ProblemError(error);
}
