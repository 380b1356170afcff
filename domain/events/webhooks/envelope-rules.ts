import { isoOf } from '../../kernel/text/date-time-rules.ts';

interface EnvelopeParts {
  id: string;
  event: string;
  /** The database's text. */
  createdAt: string;
  /** JSON of `data`. */
  payload: string;
}

/**
 * The body of a delivery without a template: `data` is inserted as it was given. The same parts give the same bytes, so
 * that the log need not store them for each attempt.
 */
export const envelopeText = ({ id, event, createdAt, payload }: EnvelopeParts): string =>
  `{"id":"${id}","type":${JSON.stringify(event)},"timestamp":"${isoOf(createdAt)}","data":${payload}}`;
