import { z } from 'zod';
import 'zod-openapi';
import { isId } from '../../domain/shared/ids.ts';
import { isoOf } from '../../domain/shared/date-time-rules.ts';

/** Replaces the derived JSON schema in the reference, where the wire form differs from the parsed one. */
const shownAs = (shown: Record<string, unknown>) => ({
  override: ({ jsonSchema }: { jsonSchema: object }) => {
    for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Record<string, unknown>)[key];
    Object.assign(jsonSchema, shown);
  },
});

/** An id in a path: whatever is not a UUID names nothing, so it is 404 like an unknown one. */
export const Id = z
  .string()
  .refine(isId, 'not an id')
  .meta(shownAs({ type: 'string', format: 'uuid' }));

/** Longest text taken for names, identifiers and the like. */
export const NAME_MAX = 255;
export const Name = z.string().trim().min(1).max(NAME_MAX);
/** Free text of people: descriptions, reasons, comments. */
export const FreeText = z.string().max(4_000);

/** `owner/repo`, or `organization/project/repository`. */
export const RepositoryIdentifier = z
  .string()
  .max(NAME_MAX)
  .regex(/^[^/\s]+(\/[^/\s]+){1,2}$/, 'must be owner/repo or organization/project/repository')
  .meta({ description: '`owner/repo`, or `organization/project/repository`', example: 'acme/storefront' });

/** A whole number in a query, with its limits and default. */
export const queryInt = (minimum: number, maximum: number, standard: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`)
    .optional()
    .transform((value) => value ?? standard)
    .meta(shownAs({ type: 'integer', minimum, maximum, default: standard }));

/** `true` or `false` in a query. */
export const queryFlag = (standard: boolean) =>
  z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => (value === undefined ? standard : value === 'true'))
    .meta(shownAs({ type: 'boolean', default: standard }));

/** A moment as a client sends it: ISO 8601 with an offset; a day that does not exist is refused. */
export const DateTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .meta(shownAs({ type: 'string', format: 'date-time' }));

/** A moment as the service answers it: ISO 8601, UTC, milliseconds; made from a date or from a database's text. */
export const Timestamp = z
  .union([z.date(), z.string()])
  .transform((value) => (typeof value === 'string' ? isoOf(value) : value.toISOString()))
  .meta(shownAs({ type: 'string', format: 'date-time' }));

/** How long a credential that was replaced goes on working beside the new one. */
export const OverlapHours = z.int().min(0).max(168).default(24);

/** An open JSON object. */
export const JsonObject = z.record(z.string(), z.unknown());

export const NoContent = z.void();
