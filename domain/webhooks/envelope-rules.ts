import { isoOf } from '../shared/date-time-rules.ts';

interface EnvelopeParts {
  id: string;
  event: string;
  /** The database's text. */
  createdAt: string;
  /** JSON of `data`. */
  payload: string;
}

/**
 * The body of a delivery that has no template, as text: `data` is put in as it was given. The same parts make the
 * same bytes, so that the log need not keep them again for each attempt.
 */
export const envelopeText = ({ id, event, createdAt, payload }: EnvelopeParts): string =>
  `{"id":"${id}","type":${JSON.stringify(event)},"timestamp":"${isoOf(createdAt)}","data":${payload}}`;
