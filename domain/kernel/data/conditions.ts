import {
  type ExpressionBuilder,
  type ExpressionWrapper,
  type OperandExpression,
  type RawBuilder,
  type ReferenceExpression,
  sql,
  type SqlBool,
} from 'kysely';

/** Where a page of a list ended that is ordered by moments, and by ids among those of the same moment. */
export interface PlaceCursor {
  /** ISO 8601, or the database's text. */
  createdAt: string;
  /** An id, or what else tells items of the same moment apart. */
  id: string;
}

/**
 * Whether a text column has one of the values. They go as one parameter, so that the statement's text does not depend
 * on how many there are. A single one is compared by `=`, so that an index of the column can also give the order.
 */
export function isOneOf<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB> & string,
  values: readonly string[],
): ExpressionWrapper<DB, TB, SqlBool> {
  const [only] = values;
  const operand: OperandExpression<unknown> = values.length === 1 ? sql`${only}` : sql`any (${values}::text[])`;
  return eb(column, '=', operand as never);
}

/** Whether an integer column has one of some values. */
export const isOneOfNumbers = <DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB> & string,
  values: readonly number[],
): ExpressionWrapper<DB, TB, SqlBool> => eb(column, '=', sql`any (${values}::int[])` as never);

/**
 * A moment of milliseconds in milliseconds since the epoch, as a number; null stays null. `extract` would answer a numeric,
 * which becomes a number by way of its text: lists have thousands of moments.
 */
export const epochMs = (moment: RawBuilder<unknown>) => sql<number>`round(date_part('epoch', ${moment}) * 1000)`;

/** The time so many seconds ago, by the database's clock. */
export const secondsAgo = (seconds: number) => sql<string>`now() - make_interval(secs => ${seconds})`;
