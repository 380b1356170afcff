import { z } from 'zod';
import { parsePath } from '../../kernel/json/json-path-rules.ts';
import { mapOf, openObject, textUpTo, valueOf } from '../../kernel/overrides/large-maps.ts';
import { pathProblem } from './path-template-rules.ts';
import {
  CHECKED_PARTS,
  DELAY_MAX_MS,
  FAULT_KINDS,
  SEQ_MAX,
  type Step,
  type StepRequest,
  type StepResponse,
} from './step-rules.ts';

/** A name of a header (RFC 9110, 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
/** A value of a header has no control characters, so that none can end the header. */
const isHeaderValue = (text: string): boolean => !/[^\t\u0020-\u007e\u0080-\u{10ffff}]/u.test(text);

const HeaderName = {
  schema: z.string().regex(HEADER_NAME, 'must be the name of a header'),
  read: (value: unknown) => (typeof value === 'string' && HEADER_NAME.test(value) ? value.toLowerCase() : undefined),
};
const HeaderValue = z.string().max(8_192).refine(isHeaderValue, 'must have no control characters');
const ENTRIES = { max: 100, message: 'must be at most 100' };

/** Headers of a response: a value or a list of values by name. */
export const ResponseHeaders = mapOf(
  HeaderName,
  valueOf<string | string[]>(z.union([HeaderValue, z.array(HeaderValue).max(50)])),
  ENTRIES,
);

/** A status that ends an exchange. */
export const MockStatus = z.int().min(200).max(599);

const CapturePath = z
  .string()
  .max(300)
  .refine((path) => /^(body|path|query|headers)$/.test(parsePath(path)?.[0] ?? ''), {
    error: 'must be a path that begins with body, path, query or headers: body.order.id',
  });

const method = z
  .string()
  .regex(/^([A-Za-z]{1,20}|\*)$/, 'must be a method, or * for any')
  .transform((text) => text.toUpperCase());

export const StepRequestIn = z
  .strictObject({
    method: method.default('*').meta({ description: '`*` (default): any', example: 'GET' }),
    path: z
      .string()
      .min(1)
      .max(2_000)
      .superRefine((path, context) => {
        const problem = pathProblem(path);
        if (problem !== undefined) context.addIssue(problem);
      })
      .default('/**')
      .meta({
        description: 'Literal, `{name}` for a segment, `*` within a segment, `**` across. Default: any path',
        example: '/services/data/v64.0/sobjects/Account/{id}',
      }),
    query: openObject().optional().meta({
      description: 'Values by name: a scalar, a list of all its values, or operators of webhook filters',
    }),
    headers: mapOf(HeaderName, { schema: z.unknown(), read: (value) => value }, ENTRIES)
      .optional()
      .meta({ description: 'Values by name, as in `query`' }),
    body: z.unknown().optional().meta({
      description:
        'JSON, or fields of a form: a subset, with operators as values. A string: the whole text. Operators alone: of the text, where it is no JSON and no form; `regex` always',
    }),
    exact: z
      .array(z.enum(['query', 'body']))
      .max(2)
      .optional()
      .meta({ description: 'What may have no more than is named' }),
    checks: z
      .array(
        z
          .strictObject({
            of: z.enum(CHECKED_PARTS).meta({ description: '`url` (path and query) and `path` as they were sent' }),
            name: z.string().min(1).max(200).optional().meta({ description: 'Name of a parameter, header or cookie' }),
            is: z.unknown().optional().meta({
              description:
                'A condition on the value, or several of them: `{eq, ignoreCase?}`, `{contains}`, `{matches}` (of the whole text), `{before}`, `{after}`, `{sameTime}` (a date and time, `now` or `now +3 days`; with `format?`, `truncate?`, `truncateLast?`, `truncateActual?`), `{json, extra?, anyOrder?}`, `{xml, anyOrder?}` (`names`: elements of different names in any order; `all`: also those of one name), `{jsonPath, is? or none?}`, `{not}`, `{all: […]}`, `{any: […]}`. Absent: any value passes',
            }),
            isAbsent: z.boolean().optional(),
          })
          .transform(({ name, ...check }) => ({
            ...check,
            ...(name !== undefined && { name: check.of === 'headers' ? name.toLowerCase() : name }),
          })),
      )
      .max(50)
      .optional()
      .meta({ description: 'Further conditions, all of which hold: of one of the values the test is true' }),
    requires: openObject().optional().meta({ description: 'Variables of the run: a value, or operators' }),
    captures: mapOf(textUpTo(100), valueOf(CapturePath), ENTRIES)
      .optional()
      .meta({
        description: 'Variables that are set from the request',
        example: { orderId: 'body.id' },
      }),
  })
  .transform((value): StepRequest => value);

const delay = z.int().min(0).max(DELAY_MAX_MS);

const JsonSchemaIn = z.union([z.boolean(), openObject()]);

const RequestSchemasIn = z
  .strictObject({
    path: JsonSchemaIn.optional().meta({ description: 'Schema of an object with the segments of the path by name' }),
    query: JsonSchemaIn.optional().meta({
      description: 'Schema of an object with the parameters by name; texts are read as the types that are wanted',
    }),
    headers: JsonSchemaIn.optional().meta({
      description: 'Schema of an object with the headers by name in lower case',
    }),
    body: JsonSchemaIn.optional().meta({ description: 'Schema of a JSON body, or of the fields of a form' }),
    requiresBody: z.boolean().optional(),
    contentTypes: z.array(z.string().min(1).max(200).toLowerCase()).min(1).max(50).optional().meta({
      description: 'Media types of bodies, without parameters',
    }),
    definitions: mapOf(textUpTo(200), valueOf(JsonSchemaIn), { max: 500, message: 'must be at most 500' })
      .optional()
      .meta({ description: 'What `{"$ref": "#/$defs/name"}` refers to' }),
    status: z
      .literal([400, 422])
      .optional()
      .meta({ description: 'Status of the answer to requests that break a schema. Default: 400' }),
  })
  .meta({
    description:
      'What requests must be like, as JSON Schema 2020-12; at most 12 KB. Others get a problem that names what is wrong with them, and do not use the step. Those of a step that is put are tried at once, those of a scenario when a request needs them',
  });

const EchoPath = z
  .string()
  .max(300)
  .refine((path) => /^(body|path|query)$/.test(parsePath(path)?.[0] ?? ''), {
    error: 'must be a path that begins with body, path or query: path.id',
  });

export const StepResponseIn = z
  .strictObject({
    status: MockStatus.default(200),
    headers: ResponseHeaders.optional(),
    body: z.unknown().optional().meta({ description: 'A string is sent verbatim, anything else as JSON' }),
    bodyBase64: z.base64().optional().meta({ description: 'Instead of `body`' }),
    delayMs: z
      .union([delay, z.strictObject({ min: delay, max: delay })])
      .optional()
      .meta({ description: 'A number, or a range from which the `seed` of the scenario draws' }),
    throttle: z.int().min(1).optional().meta({ description: 'Bytes a second' }),
    fault: z
      .strictObject({
        kind: z.enum(FAULT_KINDS),
        probability: z.number().min(0).max(1).optional().meta({ description: 'Drawn by the `seed`. Default: 1' }),
      })
      .optional(),
    sets: openObject().optional().meta({ description: 'Variables of the run that are set afterwards' }),
    template: z.boolean().optional().meta({
      description:
        'Body, headers and `sets` are templates, as in webhooks: `{{ request.body.id }}`, `{{ request.path.id }}`, `{{ state.orderId }}`, `{{ now }}`, `{{ uuid }}`',
    }),
    echo: mapOf(textUpTo(200), valueOf(EchoPath), ENTRIES)
      .optional()
      .meta({
        description:
          'Members of the body, a JSON object of at most 256 KB, that are those of the request where it has them in the same type',
        example: { id: 'path.id' },
      }),
    validates: RequestSchemasIn.optional(),
  })
  .refine(({ body, bodyBase64 }) => body === undefined || bodyBase64 === undefined, {
    path: ['bodyBase64'],
    error: 'must not stand beside body',
  })
  .refine(({ delayMs }) => typeof delayMs !== 'object' || delayMs.min <= delayMs.max, {
    path: ['delayMs'],
    error: 'min must not be more than max',
  })
  .transform((value): StepResponse => value);

export const Seq = z.int().min(1).max(SEQ_MAX);
export const Times = z
  .int()
  .min(1)
  .max(1_000_000)
  .nullable()
  .meta({ description: 'How often the step answers. Null: always, in mode `strict` once' });

/** A step as clients and formats give it; headers in lower case, methods in upper case. */
export const StepIn = z
  .strictObject({
    seq: Seq.optional().meta({ description: 'Default: after the step before it' }),
    request: StepRequestIn.prefault({}),
    response: StepResponseIn,
    times: Times.default(null),
  })
  .transform((value): Omit<Step, 'seq'> & { seq?: number | undefined } => value);
