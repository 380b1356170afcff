import { setTimeout as sleep } from 'node:timers/promises';
import { type AnyResult, type Client, createClient, dataOf, type DataOf, ProblemError } from '@quayside/client';
import { CredentialsFile } from './credentials.ts';
import { durationMs } from './duration.ts';
import { CommandError, EXIT, exitCodeOf, usage } from './exit.ts';
import { keyMaker } from './keys.ts';
import { detectedRepository, pipelineRun } from './pipeline.ts';

/** Options of every command. */
export interface GlobalOptions {
  url?: string;
  tenant?: string;
  repository?: string;
  json?: boolean;
  timeout?: string;
  again?: boolean;
}

/** What a command works with. */
export interface Context {
  client: Client;
  url: string;
  /** Ends with the time-out of the command, or when it is interrupted. */
  signal: AbortSignal;
  isJson: boolean;
  env: NodeJS.ProcessEnv;
  /** The repository that is named or detected. Throws where none is. */
  repository(): string;
  /** The same, undefined where none is. */
  detected(): string | undefined;
  /** The same, without looking at the folder. */
  named(): string | undefined;
  /** The header by which a POST is done once. */
  keyed(body: unknown): { 'Idempotency-Key': string };
  /** Whether the service's document has the operation, and the parameter of its query. */
  knows(method: string, path: string, parameter?: string): Promise<boolean>;
  /** Talks to people, on standard error. */
  say(text: string): void;
  /** One line of a stream: as JSON, or as text. */
  line(data: unknown, text: string): void;
  /** What becomes of SIGINT and SIGTERM; at first they end the command. */
  onSignal: (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void;
}

const REQUEST_MS = 60_000;

export interface Invocation {
  /** Names the command in keys: `candidate create`. */
  command: string;
  options: GlobalOptions;
  /** It may take as long as it takes: no time-out unless one is given. */
  isLong: boolean;
}

export interface Interruption {
  signal: AbortSignal;
  interrupt(reason: CommandError): void;
}

/** Ends a command that is not done by then. */
export function endAfter(deadlineMs: number, interrupt: Interruption['interrupt']): void {
  const late = () => interrupt(new CommandError(EXIT.timedOut, 'timed_out', `Not done after ${deadlineMs / 1_000} s`));
  setTimeout(late, deadlineMs).unref();
}

/** The context of one command, for the service that is named by option, variable or file. */
export function makeContext(
  { command, options, isLong }: Invocation,
  env: NodeJS.ProcessEnv,
  { signal, interrupt }: Interruption,
): Context {
  const url = serviceUrl(options, env);
  const deadlineMs = options.timeout === undefined ? (isLong ? undefined : REQUEST_MS) : durationMs(options.timeout);
  if (deadlineMs !== undefined) endAfter(deadlineMs, interrupt);
  const client = createClient({
    url,
    ...tenantOf(options, env),
    token: () => tokenOf(env, url, { signal, interrupt }),
    signal,
    fetch: limited,
  });
  const makeKey = keyMaker(command, env, options.again ?? false);
  const detected = () => options.repository ?? detectedRepository(env, process.cwd());
  let document: Promise<ServiceDocument> | undefined;
  return {
    client,
    url,
    signal,
    isJson: options.json ?? false,
    env,
    detected,
    named: () => options.repository ?? detectedRepository(env),
    repository() {
      const repository = detected();
      if (repository === undefined) throw usage('Which repository? Give --repository or QUAYSIDE_REPOSITORY');
      return repository;
    },
    keyed: (body) => ({ 'Idempotency-Key': makeKey(body) }),
    async knows(method, path, parameter) {
      document ??= dataOf(client.get<{ 200: ServiceDocument }>({ url: '/openapi.json' }));
      const { paths, components } = await document;
      const operation = paths[path]?.[method];
      if (operation === undefined || parameter === undefined) return operation !== undefined;
      const parameters = (operation.parameters ?? []).map((each) => components?.parameters?.[refName(each)] ?? each);
      return parameters.some(({ name }) => name === parameter);
    },
    say: (text) => void process.stderr.write(`${text}\n`),
    line: (data, text) => void process.stdout.write(`${options.json ? JSON.stringify(data) : text}\n`),
    onSignal: (name) =>
      interrupt(
        name === 'SIGINT'
          ? new CommandError(EXIT.interrupted, 'interrupted', 'Interrupted')
          : new CommandError(EXIT.terminated, 'terminated', 'Terminated'),
      ),
  };
}

interface Parameter {
  name?: string;
  $ref?: string;
}
interface ServiceDocument {
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
  components?: { parameters?: Record<string, Parameter> };
}
const refName = ({ $ref = '' }: Parameter): string => $ref.split('/').at(-1) ?? '';

/** Address of the service; a variable goes before the file. */
export function serviceUrl({ url }: GlobalOptions, env: NodeJS.ProcessEnv): string {
  const named = url ?? (env.QUAYSIDE_URL || new CredentialsFile().read().current);
  if (!named) throw usage('Which service? Give --url or QUAYSIDE_URL, or sign in: quayside login');
  if (!URL.canParse(named) || !/^https?:/.test(named)) throw usage(`${named} is no address of a service`);
  return named.replace(/\/+$/, '');
}

function tenantOf({ tenant = '' }: GlobalOptions, env: NodeJS.ProcessEnv): { tenant?: string } {
  const named = tenant || env.QUAYSIDE_TENANT;
  return named ? { tenant: named } : {};
}

/** The variable's token, else that of the file; what is wrong with that ends the command. */
async function tokenOf(
  env: NodeJS.ProcessEnv,
  url: string,
  { signal, interrupt }: Interruption,
): Promise<string | undefined> {
  if (env.QUAYSIDE_TOKEN) return env.QUAYSIDE_TOKEN;
  try {
    return await new CredentialsFile(signal).tokenFor(url);
  } catch (error) {
    if (error instanceof CommandError) interrupt(error);
    throw error;
  }
}

/** No single request takes longer than a minute; streams may. */
export const limited: typeof fetch = (input, init) => {
  const request = new Request(input, init);
  if (request.headers.get('accept') === 'text/event-stream') return fetch(request);
  return fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(REQUEST_MS)]) });
};

/** Id of what a deployment, lock or run belongs to: `--execution`, `QUAYSIDE_RUN_ID`, else the pipeline's run. */
export const executionId = ({ env }: Context, given?: string): string | undefined =>
  given ?? (env.QUAYSIDE_RUN_ID || pipelineRun(env)?.run);

/** Refuses a command that this service's version lacks. */
export const unknownHere = (what: string): CommandError =>
  new CommandError(
    EXIT.missing,
    'not_supported',
    `This service does not know ${what} yet: it is of an earlier version`,
  );

/** The data of a call of a route that the service may lack; `what` names it in words. */
export async function dataOfLater<Result extends AnyResult>(
  context: Context,
  { method, path, what }: { method: string; path: string; what: string },
  call: Promise<Result>,
): Promise<DataOf<Result>> {
  try {
    return await dataOf(call);
  } catch (error) {
    const isAbsent = error instanceof ProblemError && [404, 405].includes(error.problem.status);
    if (isAbsent && !(await context.knows(method, path))) throw unknownHere(what);
    throw error;
  }
}

/** The data of a call; undefined where the service has no such thing. */
export async function ifFound<Result extends AnyResult>(call: Promise<Result>): Promise<DataOf<Result> | undefined> {
  try {
    return await dataOf(call);
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === 'not_found') return undefined;
    throw error;
  }
}

/** Refuses a dry run before it would be a real one. */
export async function assertDryRun(context: Context, path: string): Promise<void> {
  if (await context.knows('post', path, 'dryRun')) return;
  throw usage('This service knows no --dry-run of that: without it, the command would be executed');
}

const FAILURES_MAX = 10;

/** Asks again, ever more seldom, until what is asked is so. What passes by itself does not end it. */
export async function until<Value>(
  { signal }: Context,
  ask: () => Promise<Value>,
  isDone: (value: Value) => boolean,
): Promise<Value> {
  let failures = 0;
  for (let pauseMs = 300; ; pauseMs = Math.min(5_000, pauseMs * 1.4)) {
    try {
      const value = await ask();
      if (isDone(value)) return value;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (signal.aborted || !isPassing(error) || failures > FAILURES_MAX) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof ProblemError &&
  [EXIT.unreachable as number, EXIT.timedOut as number].includes(exitCodeOf(error.problem));
