import { Migration } from '@mikro-orm/migrations';
import { migrationOf } from '../../domain/migrate.ts';

test("a migration's file exports one class and nothing else", () => {
  const Migration1 = class extends Migration {
    override up() {}
  };
  expect(migrationOf('Migration1_x.ts', { Migration1 })).toBe(Migration1);
  expect(() => migrationOf('Migration1_x.ts', {})).toThrow('Migration1_x.ts exports no migration');
  expect(() => migrationOf('Migration1_x.ts', { Migration1, ROWS: 3 })).toThrow('exports Migration1, ROWS');
});
