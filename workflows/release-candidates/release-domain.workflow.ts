import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReleaseActivities } from '../../activities/release-candidates/release-candidates.activities.ts';
import { LOCAL_DATABASE_WORK } from '../activity-options.ts';
import { APPLY_EVENTS, type OutcomesById, type ReleaseDomainInput } from './release-domain.contract.ts';

/** A domain that was quiet for this long completes; the next event starts it anew. */
const LINGER = '30 seconds';
/** Bounds the time of one local activity; more events wait for the next turn. */
const EVENTS_PER_TURN = 50;

const { applyReleaseEvents } = proxyLocalActivities<ReleaseActivities>(LOCAL_DATABASE_WORK);

const applyEventsUpdate = defineUpdate<OutcomesById, [string[]]>(APPLY_EVENTS.update);
const waitingQuery = defineQuery<number>('waiting');

/** The events of one domain that wait for their turn, and what became of the others. */
class Turns {
  readonly #input: ReleaseDomainInput;
  readonly #waiting: string[] = [];
  #outcomes = new Map<string, OutcomesById[string] | null>();

  constructor(input: ReleaseDomainInput) {
    this.#input = input;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async apply(eventIds: string[]): Promise<OutcomesById> {
    this.#waiting.push(...eventIds);
    await condition(() => eventIds.every((id) => this.#outcomes.has(id)));
    const answers: OutcomesById = {};
    for (const id of eventIds) {
      const outcome = this.#outcomes.get(id);
      if (outcome) answers[id] = outcome;
    }
    return answers;
  }

  async takeTurn(): Promise<void> {
    const eventIds = this.#waiting.splice(0, EVENTS_PER_TURN);
    const outcomes = await applyReleaseEvents({ ...this.#input, eventIds });
    for (const id of eventIds) this.#outcomes.set(id, outcomes[id] ?? null);
  }

  forgetAnswered(): void {
    this.#outcomes = new Map();
  }
}

/** Applies the release events of one domain one after another, in the order in which they came. */
export async function releaseDomain(input: ReleaseDomainInput): Promise<void> {
  const turns = new Turns(input);
  setHandler(applyEventsUpdate, (eventIds) => turns.apply(eventIds));
  setHandler(waitingQuery, () => turns.waiting);
  for (;;) {
    const hasWork = await condition(() => turns.waiting > 0, LINGER);
    while (turns.waiting > 0) await turns.takeTurn();
    await condition(() => allHandlersFinished() || turns.waiting > 0);
    if (turns.waiting > 0) continue;
    turns.forgetAnswered();
    if (!hasWork) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof releaseDomain>(input);
  }
}
