/** PostgreSQL holds neither U+0000 nor unpaired surrogates. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '');

/** Whether the JSON of a value has what PostgreSQL does not hold. */
export const isUnstorable = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);
