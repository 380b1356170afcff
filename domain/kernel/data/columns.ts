import { p } from '@mikro-orm/core';
import type { ColumnType } from 'kysely';

declare const JSON_COLUMN: unique symbol;
/** What a json column holds. The mark is a type only: it tells json from `text[]`, which JavaScript shows alike. */
export type Json<T> = T & { readonly [JSON_COLUMN]?: T };
declare const JSON_TEXT: unique symbol;
/** A value on its way into a json column; made by `json`. */
export type JsonText<T> = string & { readonly [JSON_TEXT]: T };

/** Writes a value as JSON. Left to `pg`, an array would become `{…}`, which is not JSON. */
export const json = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>;

/** `p.json` for columns that queries use, too. */
export const jsonColumn = <T>() => p.json<Json<T>>();

type Parts<C> =
  C extends ColumnType<infer S, infer I, infer _U>
    ? { selected: S; optional: Extract<I, undefined> }
    : { selected: C; optional: never };
type JsonOf<S> = NonNullable<S> extends { readonly [JSON_COLUMN]?: infer T } ? T : never;

/** A column of an entity as queries see it: timestamps are text, and json is written by `json`. */
export type Cell<C, S = Parts<C>['selected'], Nothing = Extract<S, null>, Optional = Parts<C>['optional']> = [
  Extract<S, Date>,
] extends [never]
  ? typeof JSON_COLUMN extends keyof NonNullable<S>
    ? ColumnType<JsonOf<S> | Nothing, JsonText<JsonOf<S>> | Nothing | Optional, JsonText<JsonOf<S>> | Nothing>
    : C
  : ColumnType<string | Nothing, Date | string | Nothing | Optional, Date | string | Nothing>;
