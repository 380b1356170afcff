import type { z } from 'zod';

/** The fields that the schema of an object names, of an issue's schema; none for other schemas. */
export function fieldsOf(schema: z.core.$ZodType | z.core.$ZodCheck | undefined): string[] {
  const def = schema?._zod.def as { shape?: object } | undefined;
  return Object.keys(def?.shape ?? {});
}
