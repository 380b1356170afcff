import type { SimulatedOrg } from './org.ts';

/** Text of an element below a call, by the names that lead to it. */
type TextAt = (...names: string[]) => string;
export type SoapAnswer = { result: string } | { code: string; message: string };

const MISSING = { code: 'INVALID_CROSS_REFERENCE_KEY', message: 'invalid cross reference id' };

/** Deployments by the Metadata interface, where people's tools still call that; undefined for other operations. */
export function deployOverSoap(
  { deployments }: SimulatedOrg,
  { name, at, testClasses }: { name: string; at: TextAt; testClasses: string[] },
): SoapAnswer | undefined {
  switch (name) {
    case 'deploy': {
      const flag = (option: string) => at('DeployOptions', option) === 'true';
      const testLevel = at('DeployOptions', 'testLevel');
      const made = deployments.start(Buffer.from(at('ZipFile'), 'base64'), {
        checkOnly: flag('checkOnly'),
        rollbackOnError: flag('rollbackOnError'),
        ignoreWarnings: flag('ignoreWarnings'),
        runTests: testClasses,
        ...(testLevel !== '' && { testLevel }),
      });
      return 'id' in made
        ? { result: xmlOf({ done: false, id: made.id, state: 'Queued' }) }
        : { code: 'INVALID_FIELD', message: 'the zip file could not be read' };
    }
    case 'checkDeployStatus': {
      const found = deployments.find(at('asyncProcessId'));
      if (!found) return MISSING;
      deployments.advance();
      return { result: xmlOf(deployments.result(found, at('includeDetails') === 'true')) };
    }
    case 'cancelDeploy': {
      const found = deployments.find(at('id'));
      if (!found) return MISSING;
      return deployments.cancel(found) ?? { result: xmlOf({ done: found.isDone, id: found.id }) };
    }
    case 'deployRecentValidation': {
      const made = deployments.quick(at('validationId'));
      return 'id' in made ? { result: made.id } : { code: 'INVALID_ID_FIELD', message: 'no such validation' };
    }
    default:
      return undefined;
  }
}

function xmlOf(value: object): string {
  return Object.entries(value)
    .flatMap(([name, each]) => [each].flat().map((one: unknown) => element(name, one)))
    .join('');
}

const element = (name: string, value: unknown): string =>
  value === null || value === undefined
    ? ''
    : `<${name}>${typeof value === 'object' ? xmlOf(value) : escaped(`${value as string | number | boolean}`)}</${name}>`;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
