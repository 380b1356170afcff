import { pathToFileURL } from 'node:url';
import jestRuntime from 'jest-runtime';

// Its types describe its CommonJS form.
const Runtime = jestRuntime as unknown as (typeof jestRuntime)['default'];

/**
 * Lets Node itself load test files and all that they import, as it loads the service: each module once for all test
 * files of a process, not once for each. Only Jest's own modules stay in the context of the test file. What a test file
 * sets in the environment is taken back after it.
 */
export default class NativeRuntime extends Runtime {
  readonly #env = { ...process.env };

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override async unstable_importModule(from: string): Promise<never> {
    return (await import(pathToFileURL(from).href)) as never;
  }

  override setGlobalsForRuntime(globals: Parameters<InstanceType<typeof Runtime>['setGlobalsForRuntime']>[0]): void {
    super.setGlobalsForRuntime(globals);
    Object.assign(globalThis, globals);
  }

  override teardown(): void {
    super.teardown();
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
  }
}
