import { relative, sep } from 'node:path';
import jestSequencer from '@jest/test-sequencer';

// Its types describe its CommonJS form.
const Sequencer = jestSequencer as unknown as (typeof jestSequencer)['default'];

type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/** Folders whose files start processes and wait for them, the longest first; all others follow. */
const LONG = ['tools', 'workflows'];

/**
 * Starts the long test files first, so that none of them is left alone at the end of a run. What Jest measured in the
 * last run on this machine decides among files of one folder; on a fresh machine their size does.
 */
export default class LongFilesFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    // oxlint-disable-next-line no-array-sort -- a method of Jest's
    const sorted = await super.sort(tests);
    const rank = ({ path }: Tests[number]): number => {
      const place = LONG.indexOf(relative('test', path).split(sep)[0] ?? '');
      return place === -1 ? LONG.length : place;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
