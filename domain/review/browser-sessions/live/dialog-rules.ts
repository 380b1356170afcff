/** Kinds of dialogs by which a page asks, and is held up until they are answered. */
export const DIALOG_KINDS = ['alert', 'confirm', 'prompt', 'beforeunload'] as const;
export type DialogKind = (typeof DIALOG_KINDS)[number];

/** So long a dialog waits for an answer of those who are there. */
export const DIALOG_ANSWER_SECONDS = 60;

/** Whether a dialog that nobody answers is accepted: nothing is agreed to unseen, and leaving a page is not refused. */
export const isAcceptedUnanswered = (kind: DialogKind): boolean => kind === 'beforeunload';
