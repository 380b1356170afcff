import { globSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { fieldsOf } from '../../../../domain/kernel/overrides/zod-fields.ts';

/** Zod's parsers, the SDK's workers, the ORM's connections, and what `pg` does not declare. */
const INTERNALS =
  /\._zod\b|@temporalio\/\w+\/lib\/|extends (Worker|PostgreSqlConnection|AbstractSqlDriver)\b|as unknown as \{ (connection|processID|secretKey)\b/;

test('what reaches into other packages stands in folders named overrides', () => {
  const files = globSync('{activities,api,domain,tools,workflows}/**/*.ts');
  const found = files.filter((file) => INTERNALS.test(readFileSync(file, 'utf8')));
  expect(found.filter((file) => !file.includes('/overrides/'))).toEqual([]);
  expect(found.length).toBeGreaterThan(3);
});

test('the fields of an object are read from its schema', () => {
  expect(fieldsOf(z.strictObject({ name: z.string(), size: z.number() }))).toEqual(['name', 'size']);
  expect(fieldsOf(z.string())).toEqual([]);
  expect(fieldsOf(undefined)).toEqual([]);
});
