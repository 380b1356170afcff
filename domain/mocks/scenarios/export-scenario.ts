import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { yamlHead, yamlSteps } from '../formats/yaml-format.ts';
import { scenarioByName, stepsOf } from '../mocks.queries.ts';
import { givenStep } from './stored-steps.ts';

/** A scenario as YAML, part by part; its name and where its runs are is not in it. Throws `not_found`. */
export async function exportScenario(reads: Reads, workspace: string, name: string): Promise<AsyncGenerator<string>> {
  const row = await scenarioByName(reads, workspace, name);
  return (async function* () {
    const { description, mode, seed, upstream, upstreams, unmatched } = row;
    yield yamlHead({ description, mode, seed, upstream: upstream ?? undefined, upstreams, unmatched });
    let isFirst = true;
    for await (const step of stepsOf(reads, row.id)) {
      const [text = ''] = yamlSteps([givenStep(step)]);
      yield isFirst ? text : text.slice(text.indexOf('\n') + 1);
      isFirst = false;
    }
    if (isFirst) yield 'steps: []\n';
  })();
}
