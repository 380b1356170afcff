import { z } from 'zod';
import 'zod-openapi';
import type { PlaceCursor } from '../../domain/kernel/data/conditions.ts';
import { isId } from '../../domain/kernel/shared/ids.ts';
import { link, reply } from './replies.ts';

/** A cursor in a query, opaque to clients: moment and id of the last item of a page. */
const cursorWith = (isKey: (text: string) => boolean) =>
  z
    .string()
    .transform((text, context): PlaceCursor => {
      const [createdAt = '', id = ''] = Buffer.from(text, 'base64url').toString('utf8').split('|');
      if (isKey(id) && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(createdAt) && !Number.isNaN(Date.parse(createdAt)))
        return { createdAt, id };
      context.addIssue({ code: 'custom', message: 'not a cursor of this list' });
      return z.NEVER;
    })
    .meta({ override: { type: 'string', description: '`nextCursor` of the previous page' } });

export const Cursor = cursorWith(isId);

/** A cursor of a timeline, whose items are told apart by their kind and row. */
export const TimelineCursor = cursorWith((text) => /^\d\d:[0-9a-f-]{36}$/.test(text));

const cursorAfter = ({ createdAt, id }: PlaceCursor): string =>
  Buffer.from(`${new Date(createdAt).toISOString()}|${id}`).toString('base64url');

/** What leads on from a page: the cursor, and a `Link`. @param next where the page ended; undefined: it is the last. */
export function leadingOn(requestUrl: string, next: PlaceCursor | undefined) {
  const nextCursor = next ? cursorAfter(next) : null;
  const headers = nextCursor === null ? undefined : { Link: link(requestUrl, { cursor: nextCursor }, 'next') };
  return { nextCursor, parts: headers ? { headers } : {} };
}

/** A page with what leads on from it. */
export function cursorPage<Body extends object>(requestUrl: string, body: Body, next: PlaceCursor | undefined) {
  const { nextCursor, parts } = leadingOn(requestUrl, next);
  return reply({ ...body, nextCursor }, parts);
}
