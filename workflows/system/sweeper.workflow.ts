import {
  ActivityFailure,
  condition,
  continueAsNew,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { REPEATED_BY_SWEEPER } from '../activity-options.ts';
import {
  configureSignal,
  sweepActivity,
  type SweeperInput,
  type SweepPlan,
  type SweepReport,
} from './sweeper.contract.ts';

/** Just below the 10,240 at which the engine warns, instead of the 4,096 at which it suggests to continue as new. */
const EVENTS_MAX = 10_000;
/** The engine suggests to continue as new at this size, too. */
const BYTES_MAX = 4 * 2 ** 20;

const activities = proxyActivities<Record<string, () => Promise<SweepReport>>>(REPEATED_BY_SWEEPER);

/** Which sweeps are due, which are under way, and what became of the last pass of each. */
class Agenda {
  #plan: SweepPlan[];
  #dueAt: Map<string, number>;
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
  }

  /** Nothing is under way, and the history is long. */
  get mayRenew(): boolean {
    if (this.#running.size > 0) return false;
    const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
    // Runs that began before the limit was raised.
    if (!patched('events-max')) return continueAsNewSuggested;
    return historyLength >= this.#eventsMax || historySize >= BYTES_MAX;
  }

  get due(): SweepPlan[] {
    return this.#plan.filter(({ name }) => !this.#running.has(name) && this.#dueOf(name) <= Date.now());
  }

  /** Undefined when each sweep is due or under way. */
  get nextDueInMs(): number | undefined {
    const later = this.#plan.map(({ name }) => this.#dueOf(name) - Date.now()).filter((inMs) => inMs > 0);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  get carriedOver(): SweeperInput {
    return { plan: this.#plan, dueAt: Object.fromEntries(this.#dueAt), eventsMax: this.#eventsMax };
  }

  /** One pass; a sweep that fails as a whole has its next pass at its time. */
  async run({ name, everyMs }: SweepPlan): Promise<void> {
    this.#running.add(name);
    this.#dueAt.set(name, Date.now() + everyMs);
    try {
      const { failed, backedOff } = (await activities[sweepActivity(name)]?.()) ?? { failed: 0, backedOff: 0 };
      if (failed + backedOff === 0) this.#troubles.delete(name);
      else this.#troubles.set(name, `${failed} failed, ${backedOff} backed off`);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      this.#troubles.set(name, error.cause?.message ?? error.message);
    }
    this.#running.delete(name);
    const troubles = [...this.#troubles].map(([sweep, trouble]) => `- ${sweep}: ${trouble}`);
    setCurrentDetails(troubles.length === 0 ? 'All sweeps succeed' : troubles.join('\n'));
  }

  #dueOf(name: string): number {
    return this.#dueAt.get(name) ?? 0;
  }
}

/** Runs each sweep at its times, side by side; the workers say which there are. It never ends by itself. */
export async function sweeper(input: SweeperInput): Promise<void> {
  const agenda = new Agenda(input);
  setHandler(configureSignal, (plan) => agenda.configure(plan));
  for (;;) {
    if (agenda.mayRenew) await continueAsNew<typeof sweeper>(agenda.carriedOver);
    for (const sweep of agenda.due) void agenda.run(sweep);
    const hasDue = () => agenda.due.length > 0;
    const waitMs = agenda.nextDueInMs;
    if (waitMs === undefined) await condition(hasDue);
    else await condition(hasDue, waitMs, { summary: 'next sweep' });
  }
}
