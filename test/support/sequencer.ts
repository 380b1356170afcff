import { relative } from 'node:path';
import jestSequencer from '@jest/test-sequencer';
import { readBudgets } from './budgets.ts';

// Its types describe its CommonJS form.
const Sequencer = jestSequencer as unknown as (typeof jestSequencer)['default'];

type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/**
 * Starts the long test files first, so that none of them is left alone at the end of a run: in the order of the wall-clock
 * that the budgets list. What is not listed is short, and follows in the order of what Jest measured last on this machine.
 */
export default class LongFilesFirst extends Sequencer {
  readonly #budgets = readBudgets();

  override async sort(tests: Tests): Promise<Tests> {
    // oxlint-disable-next-line no-array-sort -- a method of Jest's
    const sorted = await super.sort(tests);
    const wall = ({ path }: Tests[number]): number => this.#budgets.files[relative('.', path)]?.wall ?? 0;
    return sorted.toSorted((a, b) => wall(b) - wall(a));
  }
}
