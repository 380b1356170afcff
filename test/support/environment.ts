import { TestEnvironment } from 'jest-environment-node';

/** `expect` compares by these; tests and the code under test have those of Node's main context. */
const COMPARED = [Error, AggregateError, Date, Map, Set, RegExp, DataView, String, Number, Boolean, BigInt, Symbol];

/** The context of Jest's own modules, whose `instanceof` holds for values of the tests. */
export default class extends TestEnvironment {
  constructor(...[config, context]: ConstructorParameters<typeof TestEnvironment>) {
    super(config, context);
    for (const type of COMPARED) Object.assign(this.global, { [type.name]: type });
  }
}
