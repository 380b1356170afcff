import { progressText } from '../../../../domain/delivery/org-steps/org-step-rules.ts';
import { progressLine, progressOfRun } from '../../../../domain/delivery/flows/run-progress-rules.ts';

test.each([
  [{}, 'Deploy'],
  [{ percent: 39.6 }, 'Deploy, 40 %'],
  [
    { percent: 40, counts: { components: 30, componentsDone: 12, componentErrors: 0 } },
    'Deploy, 40 %, 12 of 30 components',
  ],
  [{ counts: { tests: 5, testsDone: 5, testErrors: 2 } }, 'Deploy, 5 of 5 tests, 2 test errors'],
  [{ counts: { usersDone: 3 } }, 'Deploy, 3 users done'],
])('progress %j reads as %s', (progress, text) => {
  expect(progressText('Deploy', progress)).toBe(text);
});

test('the progress of a run has whole percents and a step of bounded length, cut between characters', () => {
  expect(progressOfRun('Deploy', { percent: 33.3 })).toEqual({ step: 'Deploy', percent: 33 });
  const { step } = progressOfRun('\u{1F600}'.repeat(200).slice(1), {});
  expect(step.length).toBe(300);
  expect(step.isWellFormed()).toBe(true);
  expect(progressLine(new Date(0), { step: 'Deploy', percent: 33 })).toBe('1970-01-01T00:00:00.000Z Deploy, 33 %');
});
