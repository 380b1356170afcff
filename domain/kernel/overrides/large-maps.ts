import { z } from 'zod';

/** Invalid entries of one map that are reported; the rest are not looked at. */
const ISSUES_MAX = 1_000;

/** A value as a schema and, with the same meaning, as a function that costs next to nothing. */
export interface ValueRule<T> {
  schema: z.ZodType<T, T>;
  /** What the schema makes of the value; undefined if it refuses it. */
  read: (value: unknown) => T | undefined;
}
export type TextRule = ValueRule<string>;

export const anyText: TextRule = {
  schema: z.string(),
  read: (value) => (typeof value === 'string' ? value : undefined),
};

/** A text of at most `max` characters. */
export const textUpTo = (max: number): TextRule => ({
  schema: z.string().max(max),
  read: (value) => (typeof value === 'string' && hasAtMost(max, value) ? value : undefined),
});

/** A text of 1 to `max` characters without white space at its ends, which is removed. */
export const trimmedText = (max: number): TextRule => ({
  schema: z.string().trim().min(1).max(max),
  read(value) {
    const text = typeof value === 'string' ? value.trim() : '';
    return text !== '' && hasAtMost(max, text) ? text : undefined;
  },
});

/** For small maps, whatever the schema costs. */
export const valueOf = <T>(schema: z.ZodType<T, T>): ValueRule<T> => ({
  schema,
  read: (value) => schema.safeParse(value).data,
});

/** Characters are code points, as in Zod; each takes one or two units. */
const hasAtMost = (max: number, text: string): boolean =>
  text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);

export interface EntriesLimit {
  max: number;
  message: string;
}

interface MapDef extends z.core.$ZodRecordDef {
  key: TextRule;
  /** Absent: any JSON. */
  value: ValueRule<unknown> | undefined;
  limit?: EntriesLimit | undefined;
}

/** A record whose parsing takes linear time and copies only what it changes; Zod's own needs microseconds per entry. */
const LargeMap = z.core.$constructor<z.ZodRecord<z.ZodString, z.ZodType>, MapDef>('LargeMap', (inst, def) => {
  z.ZodRecord.init(inst, def);
  const parseAsRecord = inst._zod.parse;
  inst._zod.parse = (payload, context) => {
    const given = payload.value;
    if (!z.core.util.isPlainObject(given)) return parseAsRecord(payload, context);
    payload.value = readMap(def, given, payload.issues, context);
    return payload;
  };
});

type Issues = z.core.ParsePayload['issues'];

function readMap(
  { key: keyRule, value: valueRule, limit }: MapDef,
  given: Record<string, unknown>,
  issues: Issues,
  context: z.core.ParseContextInternal,
): unknown {
  // Assigning to this name would change the prototype, so it is left out, as everywhere in Zod.
  const hasProto = Object.hasOwn(given, '__proto__');
  if (!hasProto && !valueRule && keyRule === anyText) return given;
  const keys = Object.keys(given);
  if (limit && keys.length > limit.max) {
    issues.push({ code: 'custom', message: limit.message, input: given });
    return given;
  }
  const read: [string, unknown][] = [];
  let isChanged = hasProto;
  for (const key of keys) {
    if (key === '__proto__') continue;
    const readKey = keyRule.read(key);
    const readValue = valueRule ? valueRule.read(given[key]) : given[key];
    if (readKey === undefined || (valueRule && readValue === undefined)) {
      issues.push(...issuesOf(readKey === undefined ? keyRule : undefined, valueRule, key, given[key], context));
      if (issues.length >= ISSUES_MAX) break;
    } else if (readKey !== '__proto__') {
      read.push([readKey, readValue]);
      isChanged ||= readKey !== key || readValue !== given[key];
    } else isChanged = true;
  }
  return isChanged ? Object.fromEntries(read) : given;
}

/** @param wrongKey the rule that the key breaks; undefined: it is the value. */
function issuesOf(
  wrongKey: TextRule | undefined,
  valueRule: ValueRule<unknown> | undefined,
  key: string,
  value: unknown,
  context: z.core.ParseContextInternal,
): Issues {
  const schema = wrongKey?.schema ?? valueRule?.schema ?? z.never();
  const { issues } = schema._zod.run({ value: wrongKey ? key : value, issues: [] }, context) as z.core.ParsePayload;
  if (!wrongKey) return z.core.util.prefixIssues(key, issues);
  const inner = issues.map((issue) => z.core.util.finalizeIssue(issue, context, z.core.config()));
  return [{ code: 'invalid_key', origin: 'record', issues: inner, input: key, path: [key] }];
}

/**
 * A map of any size. Means the same as `z.record(key.schema, value.schema)`.
 * @param limit the most entries that it may have; more are refused before they are looked at.
 */
export const mapOf = <T>(key: TextRule, value: ValueRule<T>, limit?: EntriesLimit) =>
  new LargeMap({
    type: 'record',
    keyType: key.schema,
    valueType: value.schema,
    key,
    value,
    limit,
  }) as unknown as z.ZodRecord<z.ZodString, z.ZodType<T, T>>;

/** An open JSON object of any size. Means the same as `z.record(z.string(), z.unknown())`. */
export const openObject = () =>
  new LargeMap({
    type: 'record',
    keyType: z.string(),
    valueType: z.unknown(),
    key: anyText,
    value: undefined,
  }) as z.ZodRecord<z.ZodString, z.ZodUnknown>;
