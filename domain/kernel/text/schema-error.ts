import type { ErrorObject } from 'ajv';

/** What is wrong with a value that a JSON Schema refuses, in one sentence. */
export function schemaErrorDetail({ keyword, message = 'is not valid', params }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${(params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
  if (keyword === 'additionalProperties')
    return `has the unknown member ${JSON.stringify((params as { additionalProperty: string }).additionalProperty)}`;
  return message;
}
