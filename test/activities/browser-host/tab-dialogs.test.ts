import type { DialogAnswer } from '../../../activities/browser-host/chromium/browser.ts';
import { TabDialogs } from '../../../activities/browser-host/automation/tab-dialogs.ts';
import { eventually } from '../../support/eventually.ts';

function dialogsOfTab({ isAttended = true, answerMaxMs = 600_000 } = {}) {
  const answers: DialogAnswer[] = [];
  const closed: string[] = [];
  const around = { isAttended, changes: 0 };
  const dialogs = new TabDialogs({
    isAttended: () => around.isAttended,
    handle: (answer) => answers.push(answer),
    onChange: () => void around.changes++,
    onClosed: ({ kind }, accepted, by) => void closed.push(`${kind} ${accepted} ${by}`),
    answerMaxMs,
  });
  const open = (type = 'confirm', message = 'Delete it?') =>
    dialogs.opened({ type, message, defaultPrompt: type === 'prompt' ? 'a name' : '' });
  return { dialogs, answers, closed, around, open };
}

test.each([
  ['alert', false],
  ['confirm', false],
  ['prompt', false],
  ['beforeunload', true],
])('with nobody there %s is answered with %s, and is shown to nobody', (kind, accept) => {
  const { dialogs, answers, closed, around, open } = dialogsOfTab({ isAttended: false });
  open(kind);
  expect({ answers, open: dialogs.open, changes: around.changes }).toMatchObject({ answers: [{ accept }] });
  expect(dialogs.open).toBeUndefined();
  dialogs.closed({ result: accept });
  expect(closed).toEqual([`${kind} ${accept} nobody`]);
});

test('it waits for who is there; the first answer counts, and an answer to another one does not', () => {
  const { dialogs, answers, closed, open } = dialogsOfTab();
  open('prompt', 'm'.repeat(10_000));
  expect(dialogs.open).toEqual({ number: 1, kind: 'prompt', message: 'm'.repeat(4_000), proposal: 'a name' });
  expect(answers).toEqual([]);
  expect(dialogs.answer(2, { accept: true })).toBe(false);
  expect(dialogs.answer(1, { accept: true, text: 'Ada' })).toBe(true);
  expect(dialogs.answer(1, { accept: false })).toBe(false);
  dialogs.closed({ result: true, userInput: 'Ada' });
  open();
  expect(dialogs.open?.number).toBe(2);
  // Without a word of this host: a client of the protocol was quicker.
  dialogs.closed({ result: false });
  expect(dialogs.answer(2, { accept: true })).toBe(false);
  expect(answers).toEqual([{ accept: true, text: 'Ada' }]);
  expect(closed).toEqual(['prompt true viewer', 'confirm false automation']);
});

test('it is dismissed when all who were there have left, or answer nothing', async () => {
  const left = dialogsOfTab();
  left.open();
  left.around.isAttended = false;
  left.dialogs.attendanceChanged();
  expect(left.answers).toEqual([{ accept: false }]);

  const silent = dialogsOfTab({ answerMaxMs: 1 });
  silent.open();
  await eventually(
    async () => silent.answers,
    ({ length }) => length > 0,
  );
  expect(silent.answers).toEqual([{ accept: false }]);
  silent.dialogs.closed({ result: false });
  expect(silent.closed).toEqual(['confirm false nobody']);
});

test('a page that is gone takes its dialog along', () => {
  const { dialogs, answers, closed, open } = dialogsOfTab();
  open();
  dialogs.forget();
  expect(dialogs.open).toBeUndefined();
  dialogs.closed({ result: false });
  expect({ answers, closed }).toEqual({ answers: [], closed: [] });
});
