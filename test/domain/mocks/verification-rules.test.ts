import { boundsOf, verificationProblems } from '../../../domain/mocks/verification/verification-rules.ts';

const expectation = (matching: number[], times?: Parameters<typeof boundsOf>[0], unknown: number[] = []) => ({
  matching,
  unknown,
  ...boundsOf(times),
});

describe('expectations of calls', () => {
  it.each([
    ['nothing said: once or more', [expectation([3, 4])], false, []],
    ['nothing said, nothing called', [expectation([])], false, [{ kind: 'count', expectation: 0, found: 0 }]],
    ['exactly twice', [expectation([1, 2, 3], 2)], false, [{ kind: 'count', expectation: 0, found: 3 }]],
    ['never', [expectation([], 0)], true, []],
    ['at most', [expectation([1, 2], { atMost: 2 })], false, []],
    ['at least', [expectation([1], { atLeast: 2 })], false, [{ kind: 'count', expectation: 0, found: 1 }]],
    ['in order', [expectation([0, 4]), expectation([2])], true, []],
    ['the other way round', [expectation([5]), expectation([2])], true, [{ kind: 'order', expectation: 1, found: 0 }]],
    [
      'the same call for two',
      [expectation([1]), expectation([1])],
      true,
      [{ kind: 'order', expectation: 1, found: 0 }],
    ],
    ['once, whatever is not known', [expectation([1], undefined, [2])], false, []],
    ['once or twice', [expectation([1], 2, [2])], false, [{ kind: 'unknown', expectation: 0, found: 1 }]],
    ['never, but perhaps', [expectation([], 0, [2])], false, [{ kind: 'unknown', expectation: 0, found: 0 }]],
    ['too few or too many', [expectation([], 1, [1, 2])], false, [{ kind: 'unknown', expectation: 0, found: 0 }]],
    ['too few in any case', [expectation([1], 3, [2])], false, [{ kind: 'count', expectation: 0, found: 1 }]],
    [
      'perhaps in order',
      [expectation([3], undefined, [0]), expectation([2])],
      true,
      [{ kind: 'unknown', expectation: 1, found: 1 }],
    ],
    ['two behind one', [expectation([0]), expectation([1, 2], 2), expectation([3])], true, []],
  ] as const)('%s', (_what, expectations, inOrder, problems) => {
    expect(verificationProblems(expectations, inOrder)).toEqual(problems);
  });
});
