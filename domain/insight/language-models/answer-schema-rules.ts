/** Keywords of JSON Schema that both providers take in a strict schema; others are refused by one of them. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'description',
  'enum',
  'const',
  'items',
  'properties',
  'anyOf',
  '$ref',
  '$defs',
  'required',
  'additionalProperties',
]);
/** Keywords whose members are schemas by name. */
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs']);

type Schema = Record<string, unknown>;

/**
 * A JSON schema as providers want it for strict answers: without limits on lengths and numbers, every member required,
 * and no others. The answer has to be checked by the whole schema afterwards.
 */
export function strictSchema(schema: Schema): Schema {
  const strict: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (!KEYWORDS.has(keyword)) continue;
    if (SCHEMAS_BY_NAME.has(keyword))
      strict[keyword] = Object.fromEntries(
        Object.entries(value as Record<string, Schema>).map(([name, member]) => [name, strictSchema(member)]),
      );
    else if (keyword === 'items') strict[keyword] = strictSchema(value as Schema);
    else if (keyword === 'anyOf') strict[keyword] = (value as Schema[]).map(strictSchema);
    else strict[keyword] = value;
  }
  if (strict.type === 'object')
    Object.assign(strict, { required: Object.keys((strict.properties ?? {}) as Schema), additionalProperties: false });
  return strict;
}

/** Instructions for a model whose interface knows no schema. */
export const schemaInstruction = (schema: Schema): string =>
  `Answer with a single JSON value and nothing else, without a code fence. It must follow this JSON schema: ${JSON.stringify(schema)}`;
