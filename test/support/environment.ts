import { relative } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';
import { watchEnd } from './late-end.ts';
import { FileClock } from './measures.ts';

/** `expect` compares by these; tests and the code under test have those of Node's main context. */
const COMPARED = [Error, AggregateError, Date, Map, Set, RegExp, DataView, String, Number, Boolean, BigInt, Symbol];

/** Frames of the stacks of errors: enough to lead from a helper to its test. */
const FRAMES = 25;

/** What of the events of Jest's runner is used here. */
interface RunnerEvent {
  name: string;
  hook?: { type: string };
}

/** The context of Jest's own modules, whose `instanceof` holds for values of the tests; measures the file's phases. */
export default class extends TestEnvironment {
  readonly #clock: FileClock;
  /** Ends what is under way: hooks and tests of a file run one after the other. */
  #endPhase = () => {};

  constructor(...[config, context]: ConstructorParameters<typeof TestEnvironment>) {
    super(config, context);
    watchEnd();
    this.#clock = new FileClock(relative(config.globalConfig.rootDir, context.testPath));
    for (const type of COMPARED) Object.assign(this.global, { [type.name]: type });
  }

  /**
   * Jest has stacks of a hundred frames looked up in source maps, each time that an error's stack is read. There are no
   * such maps here, and the code under test makes many errors that nobody reads.
   */
  override async setup(): Promise<void> {
    await super.setup();
    Reflect.deleteProperty(Error, 'prepareStackTrace');
    Error.stackTraceLimit = FRAMES;
  }

  handleTestEvent(event: RunnerEvent): void {
    switch (event.name) {
      case 'run_start':
        this.#clock.soFar('import');
        break;
      case 'hook_start':
        this.#endPhase = this.#clock.begin(event.hook?.type ?? 'hook');
        break;
      case 'test_fn_start':
        this.#endPhase = this.#clock.begin('test');
        break;
      case 'hook_success':
      case 'hook_failure':
      case 'test_fn_success':
      case 'test_fn_failure':
        this.#endPhase();
        break;
      default:
    }
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    this.#clock.end();
  }
}
