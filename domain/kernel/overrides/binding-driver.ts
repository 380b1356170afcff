import { type Configuration, type EntityManagerType, RawQueryFragment, type Transaction } from '@mikro-orm/core';
import {
  AbstractSqlDriver,
  EntityManager,
  MikroORM,
  PostgreSqlConnection,
  PostgreSqlPlatform,
} from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';

interface Bound {
  text: string;
  values: unknown[];
}

/** The ORM's placeholders: `?` for a value, `??` for an identifier; `\?` is an operator of jsonb. */
const PLACEHOLDER = /\\\?|\?\??/g;

/**
 * Sends the statements of the EntityManager with their values as parameters. The ORM writes values into the text
 * (github.com/mikro-orm/mikro-orm/issues/8001), so that each statement would be parsed and planned anew; with
 * parameters its texts repeat, and connections prepare them like all others. It skips the ORM's `onQuery`.
 * test/domain/kernel/data/data-layer.test.ts fails when the ORM no longer sends them through here.
 */
class BindingConnection extends PostgreSqlConnection {
  override execute: PostgreSqlConnection['execute'] = async (
    query,
    params = [],
    method = 'all',
    ctx,
    loggerContext,
  ) => {
    await this.ensureConnection();
    const raw = typeof query === 'string' ? undefined : query instanceof RawQueryFragment ? query : query.toRaw();
    const text = raw?.sql ?? (query as string);
    const values = (raw?.params ?? params) as unknown[];
    const bound: Bound = { text: '', values: [] };
    this.#bind(text, values, bound);
    const run = async () => {
      const compiled = CompiledQuery.raw(bound.text, bound.values);
      const { rows, numAffectedRows } = await this.#clientOf(ctx).executeQuery<Record<string, unknown>>(compiled);
      return this.transformRawResult({ rows, numAffectedRows }, method);
    };
    return this.executeQuery(text, run as never, { query: text, params: values, ...loggerContext });
  };

  #clientOf(transaction?: Transaction): Kysely<unknown> {
    return (transaction as Kysely<unknown> | undefined) ?? this.getClient();
  }

  #bind(text: string, values: readonly unknown[], bound: Bound): void {
    let place = 0;
    let from = 0;
    for (const { 0: mark, index } of text.matchAll(PLACEHOLDER)) {
      bound.text += text.slice(from, index);
      from = index + mark.length;
      if (mark === '\\?') bound.text += '?';
      else if (mark === '??') bound.text += this.platform.quoteIdentifier(values[place++] as string);
      else this.#bindValue(values[place++], bound);
    }
    bound.text += text.slice(from);
  }

  #bindValue(value: unknown, bound: Bound): void {
    if (value instanceof RawQueryFragment) {
      this.#bind(value.sql, value.params, bound);
    } else if (Array.isArray(value)) {
      for (const [index, each] of value.entries()) {
        if (index > 0) bound.text += ', ';
        this.#bindValue(each, bound);
      }
    } else {
      bound.text += `$${bound.values.push(value)}`;
    }
  }
}

export class BindingDriver extends AbstractSqlDriver<BindingConnection, PostgreSqlPlatform> {
  declare [EntityManagerType]: EntityManager<this>;

  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), BindingConnection, ['kysely', 'pg']);
  }

  override createEntityManager(useContext?: boolean): this[typeof EntityManagerType] {
    return new EntityManager(this.config, this, this.metadata, useContext);
  }

  override getORMClass(): typeof MikroORM {
    return MikroORM;
  }
}
