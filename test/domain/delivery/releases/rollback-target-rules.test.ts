import {
  type InstalledRelease,
  rollbackTarget,
} from '../../../../domain/delivery/releases/rollbacks/rollback-target-rules.ts';

/** `r1` was installed; `!` its deployment failed, `~` was partial, `-` was cancelled, `<` was rolled back, `^` was by a rollback; `*` it has other content now. */
function report(text: string): InstalledRelease {
  const [, releaseName = '', marks = ''] = /^(\w+)(\W*)$/.exec(text) ?? [];
  const status = marks.includes('!')
    ? 'Failed'
    : marks.includes('~')
      ? 'Partial'
      : marks.includes('-')
        ? 'Cancelled'
        : 'Success';
  return {
    releaseName,
    contentDigest: `content of ${releaseName}`,
    currentDigest: marks.includes('*') ? 'other' : marks.includes('?') ? null : `content of ${releaseName}`,
    status,
    isRolledBack: marks.includes('<'),
    isByRollback: marks.includes('^'),
  };
}
const of = (history: string, named?: string) =>
  rollbackTarget(history.split(' ').filter(Boolean).map(report).toReversed(), named);

test.each([
  ['r1 r2', undefined, 'r1', 'r2'],
  ['r1 r2 r3', undefined, 'r2', 'r3'],
  ['r1 r2 r3', 'r1', 'r1', 'r3'],
  ['r1 r2 r2', undefined, 'r1', 'r2'],
  ['r1 r2 r3-', undefined, 'r1', 'r2'],
  ['r0 r1 r2< r1', undefined, 'r0', 'r1'],
  ['r1 r2!', undefined, 'r1', null],
  ['r1 r2~', undefined, 'r1', 'r2'],
  ['r1 r2 r1!', undefined, 'r2', null],
  ['r1 r2 r1!', 'r1', 'r1', 'r2'],
  ['r1 r2 r1~', undefined, 'r2', 'r1'],
  ['r1 r2 r1~', 'r1', 'r1', 'r2'],
  ['r1 r2 r2!', undefined, 'r1', 'r2'],
  ['r1 r2 r1!^', undefined, 'r1', 'r2'],
  ['r0 r1 r2! r3!', 'r0', 'r0', 'r1'],
])('after %s, back to %s: %s', (history, named, releaseName, rolledBackFrom) => {
  expect(of(history, named)).toEqual({ releaseName, rolledBackFrom });
});

test.each([
  ['', undefined, 'nothing was ever deployed there'],
  ['r1', undefined, 'nothing was installed there before r1'],
  ['r1!', undefined, 'nothing was installed there before r1'],
  ['r1 r2', 'r2', 'r2 is installed there already'],
  ['r1 r2', 'r9', 'r9 was never installed there'],
  ['r1 r2< r3', 'r2', 'r2 was rolled back there itself; deploy it with execute-release'],
  ['r1* r2', undefined, 'the release candidate r1 has other content now than was installed before'],
  ['r1? r2', undefined, 'the release candidate r1, which was installed before, was deleted'],
])('after %s, back to %s: nothing, since %s', (history, named, why) => {
  expect(of(history, named)).toEqual({ why });
});

test('other content of the release that is installed was installed before', () => {
  const before = { ...report('r1*'), contentDigest: 'earlier', currentDigest: 'content of r1' };
  expect(rollbackTarget([report('r1'), before, report('r0')], undefined)).toEqual({
    why: 'the release candidate r1 has other content now than was installed before',
  });
  expect(rollbackTarget([report('r1'), before, report('r0')], 'r0')).toEqual({
    releaseName: 'r0',
    rolledBackFrom: 'r1',
  });
});

test('a release that failed with other content is not taken for the one that is installed', () => {
  const installed = { ...report('r2'), contentDigest: 'earlier' };
  const failed = report('r2!');
  expect(rollbackTarget([failed, { ...installed, currentDigest: 'earlier' }, report('r1')], undefined)).toEqual({
    releaseName: 'r2',
    rolledBackFrom: null,
  });
  expect(rollbackTarget([failed, installed, report('r1')], undefined)).toEqual({
    why: 'the release candidate r2 has other content now than was installed before',
  });
  expect(rollbackTarget([failed, installed, report('r1')], 'r1')).toEqual({ releaseName: 'r1', rolledBackFrom: 'r2' });
});
