interface EnvelopeParts {
  id: string;
  event: string;
  createdAt: Date;
  /** JSON of `data`. */
  payload: string;
}

/**
 * The body of a delivery that has no template, as text: `data` is put in as it was given. The same parts make the
 * same bytes, so that the log need not keep them again for each try.
 */
export const envelopeText = ({ id, event, createdAt, payload }: EnvelopeParts): string =>
  `{"id":"${id}","type":${JSON.stringify(event)},"timestamp":"${createdAt.toISOString()}","data":${payload}}`;
