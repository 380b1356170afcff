/** An array as PostgreSQL writes it, for statements of a unit of work: `?::text[]`, `?::uuid[]`. */
export const textArray = (values: readonly string[]): string =>
  `{${values.map((value) => JSON.stringify(value)).join(',')}}`;
