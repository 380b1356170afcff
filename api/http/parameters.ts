import { isIP } from 'node:net';
import { z } from 'zod';
import 'zod-openapi';
import { HOST_NAME, HOST_NAMES_MAX } from '../../domain/projects/environments/org-host-rules.ts';
import { isId } from '../../domain/kernel/shared/ids.ts';
import { isoOf, momentOf } from '../../domain/kernel/text/date-time-rules.ts';
import { openObject, trimmedText } from '../../domain/kernel/overrides/large-maps.ts';
import { isLargerThan, type ValueLimits } from '../../domain/kernel/json/value-size-rules.ts';

/** Replaces the generated JSON schema in the reference if the wire format differs from the parsed value. */
const shownAs = (shown: Record<string, unknown>) => ({
  override: ({ jsonSchema }: { jsonSchema: object }) => {
    for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Record<string, unknown>)[key];
    Object.assign(jsonSchema, shown);
  },
});

/** An id in a path. A malformed id gets 404, like an unknown one. */
export const Id = z
  .string()
  .refine(isId, 'not an id')
  .meta(shownAs({ type: 'string', format: 'uuid' }));

/** Parameters of `/…/{id}`. */
export const byId = z.object({ id: Id });

/** Maximum length of names and identifiers. */
export const NAME_MAX = 255;
export const Name = z.string().trim().min(1).max(NAME_MAX);
/** `Name` as a key or value of a map. */
export const NameText = trimmedText(NAME_MAX);
/**
 * Texts without control characters, which mail headers, logs and terminals would interpret. Means the same with and
 * without the flag `u`, which tools apply or not to the patterns of a JSON schema.
 */
// Control characters are what it is about.
// oxlint-disable-next-line no-control-regex
export const WITHOUT_CONTROLS = new RegExp('^[^\\u0000-\\u001f\\u007f-\\u009f]*$');
/** An address as mail systems write it without quotes; the reference shows the pattern. */
export const Email = z
  .email({
    pattern:
      /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}$/,
    error: 'must be an e-mail address',
  })
  .max(254);
/** Descriptions, reasons, comments. */
export const FreeText = z.string().max(4_000);

/** `owner/repo`, or `organization/project/repository`. */
export const RepositoryIdentifier = z
  .string()
  .max(NAME_MAX)
  // A segment of dots would lead elsewhere in the addresses of git hosts.
  .regex(/^(?!(.*\/)?\.{1,2}(\/|$))[^/\s]+(\/[^/\s]+){1,2}$/, 'must be owner/repo or organization/project/repository')
  .meta({ description: '`owner/repo`, or `organization/project/repository`', example: 'acme/storefront' });

/** Parameters of `/…/{identifier}`, the repository of a project. */
export const byIdentifier = z.object({ identifier: RepositoryIdentifier });

/** Hosts that an allocated browser may reach beside the org. */
export const AllowedHosts = z
  .array(
    z
      .string()
      .trim()
      .toLowerCase()
      .max(253)
      .refine(
        (host) => HOST_NAME.test(host) || isIP(host) !== 0,
        'must be a host name, *. at the front for all below, or an IP address',
      ),
  )
  .max(HOST_NAMES_MAX)
  .meta({
    description:
      'Hosts that the browser may reach beside the org: names, `*.` at the front for all below, or IP addresses, which the outbound policy of the installation must permit. Hosted browsers may reach every host.',
  });

/** For optimistic locking of changes. */
export const CurrentVersion = z.int().positive().meta({ description: 'The current version; any other gets 409' });

/** An integer in a query, within limits (inclusive). */
export const queryInt = (minimum: number, maximum: number, defaultValue: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be an integer')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`)
    .optional()
    .transform((value) => value ?? defaultValue)
    .meta(shownAs({ type: 'integer', minimum, maximum, ...(defaultValue >= minimum && { default: defaultValue }) }));

/** `true` or `false` in a query. */
export const queryFlag = (defaultValue: boolean) =>
  z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => (value === undefined ? defaultValue : value === 'true'))
    .meta(shownAs({ type: 'boolean', default: defaultValue }));

/** `true`, `false`, or neither in a query. */
export const queryChoice = (description: string) =>
  z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => (value === undefined ? undefined : value === 'true'))
    .meta(shownAs({ type: 'boolean', description }));

/** A list in a query: repeated parameters or comma-separated values. */
export const queryList = <Value>(value: z.ZodType<Value, string>, max = 500) =>
  z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((given = []) =>
      [given]
        .flat()
        .flatMap((text) => text.split(','))
        .map((text) => text.trim())
        .filter((text) => text !== ''),
    )
    .pipe(z.array(value).max(max))
    .meta({ type: 'array', items: { type: 'string' } });

/** A timestamp sent by a client: ISO 8601 with an offset. */
export const DateTime = z.iso
  .datetime({ offset: true })
  .refine((text) => momentOf(text) !== undefined, 'must be a time of the years 1 to 9999')
  .transform((text) => new Date(text))
  .meta(shownAs({ type: 'string', format: 'date-time' }));

/** A day sent by a client, as its beginning in UTC. */
export const Day = z.iso
  .date()
  .refine((text) => momentOf(text) !== undefined, 'must be a day of the years 1 to 9999')
  .transform((text) => new Date(`${text}T00:00:00.000Z`));

/** A timestamp in a reply: ISO 8601 in UTC with milliseconds, from a date or from the text of a database. */
export const Timestamp = z
  .union([z.date(), z.string()])
  .transform((value) => (typeof value === 'string' ? isoOf(value) : value.toISOString()))
  .meta(shownAs({ type: 'string', format: 'date-time' }));

/** Hours for which a replaced credential remains valid. */
export const OverlapHours = z.int().min(0).max(168).default(24);

/** An open JSON object. */
export const JsonObject = openObject();

/** A schema that refuses what holds more than the limits. */
export const withinSize = <Schema extends z.ZodType>(schema: Schema, limits: ValueLimits): Schema => {
  const [values, characters] = [limits.values, limits.characters].map((count) => count.toLocaleString('en'));
  return schema.refine(
    (value) => !isLargerThan(value, limits),
    `holds more than ${values} members and elements, or ${characters} characters`,
  );
};

/** What is written, compared and audited as one value. */
export const OPEN_LIMITS: ValueLimits = { values: 10_000, characters: 1_000_000 };
/** An open JSON object in a request. */
export const GivenObject = withinSize(JsonObject, OPEN_LIMITS);

export const NoContent = z.void();
