import type { TrackerAnswer } from '../../../domain/work/work-items/work-tracker.port.ts';

interface CommentCalls<Comment> {
  edit: (commentId: string) => Promise<TrackerAnswer<Comment>>;
  /** Id of the comment that has the report's marker and was written with this credential. */
  find: () => Promise<TrackerAnswer<string | undefined>>;
  create: () => Promise<TrackerAnswer<Comment>>;
}

/**
 * Edits the comment that is known, else the one that is found, else creates it: so there is one, whatever was lost before.
 * One that was deleted, or that may not be edited, is none.
 */
export async function writeReportComment<Comment>(
  known: string | undefined,
  { edit, find, create }: CommentCalls<Comment>,
): Promise<TrackerAnswer<Comment>> {
  const isGone = (answer: TrackerAnswer<Comment>): boolean =>
    !answer.isOk && (answer.kind === 'not_found' || answer.kind === 'auth_failed');
  if (known !== undefined && /^\d+$/.test(known)) {
    const edited = await edit(known);
    if (!isGone(edited)) return edited;
  }
  const found = await find();
  if (!found.isOk) return found;
  if (found.value === undefined) return create();
  const edited = await edit(found.value);
  return isGone(edited) ? create() : edited;
}
