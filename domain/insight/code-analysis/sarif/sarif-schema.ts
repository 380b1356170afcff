import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { schemaErrorDetail } from '../../../kernel/text/schema-error.ts';

/**
 * The schema of SARIF 2.1.0, the OASIS standard of March 2020, as published at
 * `docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json`, unchanged.
 */
const FILE = new URL('./sarif-2.1.0.schema.json', import.meta.url);

interface Schema {
  definitions: Record<string, Schema>;
  properties: Record<string, Schema & { type?: string | string[]; pattern?: string }>;
  anyOf?: object[];
}

/** What errata 01 of August 2023 changed that matters here. */
function corrected(schema: Schema): Schema {
  const { definitions, properties } = schema;
  for (const name of ['run', 'toolComponent']) {
    const language = definitions[name]?.properties.language;
    if (language) language.pattern = '^[a-zA-Z]{2}(-[a-zA-Z]{2})?$';
  }
  if (definitions.region)
    definitions.region.anyOf = ['startLine', 'charOffset', 'byteOffset'].map((name) => ({ required: [name] }));
  if (properties.runs) properties.runs.type = ['array', 'null'];
  return schema;
}

/** Checks a value; undefined when it is valid, else what is wrong with it. */
type Check = (value: unknown) => { path: string[]; detail: string } | undefined;

const unescaped = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

/** What is wrong where a value must have one of several members, and has none. */
function oneOfMembers(errors: readonly ErrorObject[]): string | undefined {
  const [names, last] = [errors.slice(0, -1), errors.at(-1)];
  if (last?.keyword !== 'anyOf' || !names.every(({ keyword }) => keyword === 'required')) return undefined;
  const members = names.map(({ params }) => (params as { missingProperty: string }).missingProperty);
  return `must have one of the members ${members.join(', ')}`;
}

function checkOf(validate: ValidateFunction): Check {
  return (value) => {
    if (validate(value)) return undefined;
    const errors = validate.errors ?? [];
    const [error] = errors;
    return error && { path: unescaped(error.instancePath), detail: oneOfMembers(errors) ?? schemaErrorDetail(error) };
  };
}

interface SarifChecks {
  log: Check;
  run: Check;
  result: Check;
}

let checks: SarifChecks | undefined;

/**
 * The checks of a log, of a run and of a result. They are compiled when they are first used, which takes some tenths of
 * a second. Formats are not asserted: real tools write spaces into URIs.
 */
export function sarifChecks(): SarifChecks {
  if (checks) return checks;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  // The original compares each pair of elements.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    validate: (isAsked: boolean, elements: unknown[]) =>
      !isAsked || elements.length < 2 || new Set(elements.map((one) => JSON.stringify(one))).size === elements.length,
  });
  ajv.addSchema(corrected(JSON.parse(readFileSync(FILE, 'utf8')) as Schema), 'sarif');
  const compile = (part: string) => checkOf(ajv.compile({ $ref: `sarif#${part}` }));
  return (checks = {
    log: compile(''),
    run: compile('/definitions/run'),
    result: compile('/definitions/result'),
  });
}
