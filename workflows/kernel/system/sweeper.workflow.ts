import {
  ActivityFailure,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { CHORES, REPEATED_BY_SWEEPER } from '../../activity-options.ts';
import {
  configureSignal,
  sweepActivity,
  type SweeperInput,
  type SweepPlan,
  type SweepReport,
  type SweepResults,
  type SweepsActivities,
} from './sweeper.contract.ts';

/** Just below the 10,240 at which the engine warns, instead of the 4,096 at which it suggests to continue as new. */
const EVENTS_MAX = 10_000;
/** The engine suggests to continue as new at this size, too. */
const BYTES_MAX = 4 * 2 ** 20;

const activities = proxyActivities<Record<string, () => Promise<SweepReport>>>(REPEATED_BY_SWEEPER);
const { 'sweeps/look': look } = proxyActivities<SweepsActivities>(REPEATED_BY_SWEEPER);
const { 'sweeps/chores': doChores } = proxyActivities<SweepsActivities>(CHORES);

/** Which sweeps are due, which are under way, and what became of the last pass of each. */
class Agenda {
  #plan: SweepPlan[];
  #dueAt: Map<string, number>;
  #isNew = true;
  readonly #running = new Set<string>();
  readonly #troubles = new Map<string, string>();
  readonly #eventsMax: number;

  constructor({ plan, dueAt = {}, eventsMax = EVENTS_MAX }: SweeperInput) {
    this.#eventsMax = eventsMax;
    this.#plan = plan;
    this.#dueAt = new Map(Object.entries(dueAt));
  }

  configure(plan: SweepPlan[]): void {
    this.#plan = plan;
    this.#dueAt = new Map();
    this.#isNew = true;
  }

  /** Nothing is under way, and the history is long. */
  get mayRenew(): boolean {
    if (this.#running.size > 0) return false;
    const { historyLength, historySize } = workflowInfo();
    return historyLength >= this.#eventsMax || historySize >= BYTES_MAX;
  }

  /** It was configured, and nothing was begun since. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** From one look to the next: the shortest period of a sweep. Undefined when there are no sweeps. */
  get tickMs(): number | undefined {
    return this.#plan.length === 0 ? undefined : Math.min(...this.#plan.map(({ everyMs }) => everyMs));
  }

  get carriedOver(): SweeperInput {
    return { plan: this.#plan, dueAt: Object.fromEntries(this.#dueAt), eventsMax: this.#eventsMax };
  }

  /** Begins what is due by the middle between this look and the next, so that all looks fall together. */
  begin(): void {
    this.#isNew = false;
    const due = this.#dueBy(Date.now() + (this.tickMs ?? 0) / 2);
    for (const sweep of due) this.#started(sweep);
    const namesOf = (isChore: boolean) =>
      due.filter((sweep) => (sweep.isChore ?? false) === isChore).map(({ name }) => name);
    const chores = namesOf(true);
    if (chores.length > 0) void this.#together(chores, () => doChores(chores));
    const others = namesOf(false);
    if (others.length > 0) void this.#sweep(others);
  }

  /** One pass of each, side by side: those that have nothing to do cost no activity of their own. */
  async #sweep(names: string[]): Promise<void> {
    const withWork = await this.#together(names, () => look(names));
    for (const name of withWork) void this.#pass(name);
  }

  /** An activity for many sweeps; those that still have work stay under way. */
  async #together(names: string[], work: () => Promise<SweepResults>): Promise<readonly string[]> {
    let withWork: readonly string[] = [];
    try {
      const results = await work();
      withWork = results.withWork;
      for (const [name, report] of Object.entries(results.reports)) this.#note(name, report);
      for (const [name, message] of Object.entries(results.errors)) this.#troubles.set(name, message);
    } catch (error) {
      for (const name of names) this.#troubles.set(name, messageOf(error));
    }
    for (const name of names) if (!withWork.includes(name)) this.#running.delete(name);
    this.#showTroubles();
    return withWork;
  }

  async #pass(name: string): Promise<void> {
    try {
      this.#note(name, (await activities[sweepActivity(name)]?.()) ?? { failed: 0, backedOff: 0 });
    } catch (error) {
      this.#troubles.set(name, messageOf(error));
    }
    this.#running.delete(name);
    this.#showTroubles();
  }

  #note(name: string, { failed, backedOff }: Pick<SweepReport, 'failed' | 'backedOff'>): void {
    if (failed + backedOff === 0) this.#troubles.delete(name);
    else this.#troubles.set(name, `${failed} failed, ${backedOff} backed off`);
  }

  #showTroubles(): void {
    const troubles = [...this.#troubles].map(([sweep, trouble]) => `- ${sweep}: ${trouble}`);
    setCurrentDetails(troubles.length === 0 ? 'All sweeps succeed' : troubles.join('\n'));
  }

  #started({ name, everyMs }: SweepPlan): void {
    this.#running.add(name);
    this.#dueAt.set(name, Date.now() + everyMs);
  }

  #dueBy(time: number): SweepPlan[] {
    return this.#plan.filter(({ name }) => !this.#running.has(name) && this.#dueOf(name) <= time);
  }

  #dueOf(name: string): number {
    return this.#dueAt.get(name) ?? 0;
  }
}

/** What an activity failed with; throws what is no failure of one. */
function messageOf(error: unknown): string {
  if (!(error instanceof ActivityFailure)) throw error;
  return error.cause?.message ?? error.message;
}

/** Runs each sweep at its times, side by side; the workers say which there are. It never ends by itself. */
export async function sweeper(input: SweeperInput): Promise<void> {
  const agenda = new Agenda(input);
  setHandler(configureSignal, (plan) => agenda.configure(plan));
  for (;;) {
    if (agenda.mayRenew) await continueAsNew<typeof sweeper>(agenda.carriedOver);
    agenda.begin();
    const { tickMs } = agenda;
    const isNew = () => agenda.isNew;
    if (tickMs === undefined) await condition(isNew);
    else await condition(isNew, tickMs, { summary: 'next sweeps' });
  }
}
