import { relative } from 'node:path';
import jestSequencer from '@jest/test-sequencer';
import { readBudgets } from './budgets.ts';

// Its types describe its CommonJS form.
const Sequencer = jestSequencer as unknown as (typeof jestSequencer)['default'];

type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/** A file of more wall-clock than this mostly waits: for processes, timers, workers that come and go. */
const LONG_SECONDS = 8;

/** The rest of a run is left to short files, so that no long one is alone at its end. */
const SHARE_WITH_LONG_FILES = 0.8;

/**
 * Spreads the long test files, the longest first, evenly over those before the last fifth: they wait while the short ones
 * between them work. How long a file is, the budgets say.
 */
export default class LongFilesSpread extends Sequencer {
  readonly #budgets = readBudgets();

  override async sort(tests: Tests): Promise<Tests> {
    const wall = ({ path }: Tests[number]): number => this.#budgets.files[relative('.', path)]?.wall ?? 0;
    // oxlint-disable-next-line no-array-sort -- a method of Jest's
    const sorted = (await super.sort(tests)).toSorted((a, b) => wall(b) - wall(a));
    const long = sorted.filter((test) => wall(test) > LONG_SECONDS);
    const short = sorted.slice(long.length);
    const between = Math.floor((short.length * SHARE_WITH_LONG_FILES) / Math.max(1, long.length));
    const spread = long.flatMap((test, place) => [test, ...short.slice(place * between, (place + 1) * between)]);
    return [...spread, ...short.slice(long.length * between)];
  }
}
