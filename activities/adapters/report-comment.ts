import type { TrackerAnswer } from '../../domain/work-items/work-tracker.port.ts';

interface CommentCalls<Comment> {
  edit: (commentId: string) => Promise<TrackerAnswer<Comment>>;
  /** Id of the comment that has the report's marker. */
  find: () => Promise<TrackerAnswer<string | undefined>>;
  create: () => Promise<TrackerAnswer<Comment>>;
}

/** Edits the comment that is known, else the one that is found, else creates it: so there is one, whatever was lost before. */
export async function writeReportComment<Comment>(
  known: string | undefined,
  { edit, find, create }: CommentCalls<Comment>,
): Promise<TrackerAnswer<Comment>> {
  if (known !== undefined && /^\d+$/.test(known)) {
    const edited = await edit(known);
    // Somebody may have deleted it.
    if (edited.isOk || edited.kind !== 'not_found') return edited;
  }
  const found = await find();
  if (!found.isOk) return found;
  return found.value === undefined ? create() : edit(found.value);
}
