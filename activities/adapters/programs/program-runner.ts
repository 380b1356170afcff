import { type ChildProcess, fork } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { programLeaseTimes } from '../../../domain/delivery/flows/gates/lock-lost-rules.ts';
import type { EndedProgram, OutputSoFar, RunProgram } from '../../../domain/delivery/flows/programs/program.port.ts';
import { signalGroup } from './process-group.ts';
import type { HostOrder, HostReport } from './program-host.ts';
import { SecretMask } from './secret-mask.ts';

const HOST = fileURLToPath(new URL('./program-host.ts', import.meta.url));
/** What of the output is kept. */
const TAIL_BYTES = 64 * 1024;
/** What of the output is given to be kept elsewhere. */
const KEPT_BYTES = 64 * 1024 * 1024;
const SHOWN_EVERY_MS = 1_000;

/** The last bytes of a stream of any length. */
class Tail {
  #chunks: Buffer[] = [];
  #kept = 0;
  bytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
    while (this.#kept - (this.#chunks[0]?.length ?? 0) >= TAIL_BYTES) this.#kept -= this.#chunks.shift()?.length ?? 0;
  }

  get raw(): Buffer {
    return Buffer.concat(this.#chunks).subarray(-TAIL_BYTES);
  }

  /** PostgreSQL stores no U+0000. */
  get text(): string {
    return this.raw.toString('utf8').replaceAll('\0', '�');
  }
}

/**
 * Runs programs in process groups of their own, with a clean environment. Told to end, a group gets SIGTERM and, after
 * `graceMs`, SIGKILL. They run in a small process beside this one, which kills what is left of them when this one dies.
 */
export function createProgramRunner(graceMs = programLeaseTimes(1).graceMs): RunProgram {
  const host = new Host();
  return ({ secret, ...program }, signal, keep, lease, show) =>
    new Promise((resolve) => {
      const mask = secret === undefined ? undefined : new SecretMask(secret);
      const output = new Tail();
      const keeper = keepOutput(keep);
      const shown = showOutput(output, show);
      const run = host.open({
        async output(chunk) {
          const printed = mask?.take(chunk) ?? chunk;
          output.add(printed);
          shown.hasMore();
          await keeper.take(printed, output.bytes);
          run.say({ takenBytes: chunk.length });
        },
        async ended(ended) {
          signal.removeEventListener('abort', cancel);
          const rest = mask?.end();
          if (rest && rest.length > 0) {
            output.add(rest);
            await keeper.take(rest, output.bytes);
          }
          await shown.end();
          const isKept = await keeper.end(output.text);
          resolve({ ...ended, outputTail: output.text, outputBytes: output.bytes, isKept });
        },
      });
      const cancel = () => run.say({ end: 'cancelled' });
      run.say({ run: program, graceMs, ...(lease && { leaseMs: lease.ms }) });
      lease?.onRenewed(() => run.say({ renew: true }));
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel);
    });
}

/** Shows what was printed so far while more comes, a second after the last time. */
function showOutput(output: Tail, show: ((output: OutputSoFar) => Promise<unknown>) | undefined) {
  let timer: NodeJS.Timeout | undefined;
  let showing: Promise<void> | undefined;
  let shownBytes = 0;
  let hasEnded = false;
  const schedule = () => {
    if (!show || timer || showing || hasEnded || shownBytes === output.bytes) return;
    timer = setTimeout(() => {
      timer = undefined;
      const { bytes, raw: tail } = output;
      showing = show({ tail, bytes })
        .then(
          () => void (shownBytes = bytes),
          () => undefined,
        )
        .finally(() => {
          showing = undefined;
          schedule();
        });
    }, SHOWN_EVERY_MS);
  };
  return {
    hasMore: schedule,
    async end(): Promise<void> {
      hasEnded = true;
      clearTimeout(timer);
      await showing;
    },
  };
}

/** Hands the output on piece by piece, once it is more than its tail; `take` resolves when more of it may come. */
function keepOutput(keep: Parameters<RunProgram>[2]) {
  const whole = new PassThrough();
  /** What came before it was clear that there is more than a tail. */
  let held: Buffer[] = [];
  let kept: Promise<unknown> | undefined;
  let isBroken = keep === undefined;
  const waiting: (() => void)[] = [];
  const goOn = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  whole.on('drain', goOn).on('close', goOn);
  const begin = () => {
    kept = keep?.(whole).catch(() => {
      isBroken = true;
      whole.destroy();
    });
    for (const chunk of held) whole.write(chunk);
    held = [];
  };
  return {
    async take(chunk: Buffer, bytes: number): Promise<void> {
      if (isBroken || bytes > KEPT_BYTES) return;
      if (!kept && bytes <= TAIL_BYTES) {
        held.push(chunk);
        return;
      }
      if (!kept) begin();
      if (isBroken || whole.write(chunk)) return;
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    /** @param tail as text: output that it does not hold byte by byte is handed on, however short it is. */
    async end(tail: string): Promise<boolean> {
      if (!kept && !isBroken && !Buffer.concat(held).equals(Buffer.from(tail))) begin();
      whole.end();
      await kept;
      return kept !== undefined && !isBroken;
    },
  };
}

type Ended = Pick<EndedProgram, 'why' | 'exitCode'>;

interface OpenRun {
  host: ChildProcess;
  /** Undefined: it has not started, as far as is known. */
  group?: number;
  output: (chunk: Buffer) => Promise<void>;
  ended: (ended: Ended) => Promise<void>;
}
type WithoutId<Order> = Order extends unknown ? Omit<Order, 'id'> : never;

/** The process of the programs: started with the first one, and anew when it is gone. */
class Host {
  #process: ChildProcess | undefined;
  #last = 0;
  readonly #open = new Map<number, OpenRun>();

  open(listener: Pick<OpenRun, 'output' | 'ended'>): { say: (order: WithoutId<HostOrder>) => void } {
    const id = ++this.#last;
    const host = (this.#process ??= this.#start());
    this.#open.set(id, { host, ...listener });
    return {
      say: (order) => {
        // A program whose host is gone is told of by `#lose`.
        if (this.#open.has(id) && host.connected) host.send({ id, ...order });
      },
    };
  }

  #start(): ChildProcess {
    const started = fork(HOST, [], {
      detached: true,
      execArgv: [],
      serialization: 'advanced',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    });
    started.on('message', (report: HostReport) => this.#hear(report));
    started.once('exit', () => this.#lose(started)).once('error', () => this.#lose(started));
    // It must not keep this process alive.
    started.unref();
    started.channel?.unref();
    return started;
  }

  #hear(report: HostReport): void {
    const run = this.#open.get(report.id);
    if (!run) return;
    if ('startedAs' in report) run.group = report.startedAs;
    else if ('output' in report) void run.output(report.output);
    else this.#settle(report.id, run, report.ended);
  }

  #settle(id: number, run: OpenRun, ended: Ended): void {
    this.#open.delete(id);
    void run.ended(ended);
  }

  /** Without its host nothing is known of a program any more: it is killed. */
  #lose(host: ChildProcess): void {
    if (this.#process === host) this.#process = undefined;
    for (const [id, run] of this.#open) {
      if (run.host !== host) continue;
      if (run.group !== undefined) signalGroup(run.group, 'SIGKILL');
      this.#settle(id, run, { why: run.group === undefined ? 'not_started' : 'exited', exitCode: null });
    }
  }
}
