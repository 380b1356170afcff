import { readFile } from 'node:fs/promises';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { openApiDocument } from '../api/http/openapi/openapi.ts';
import type { ReferenceExamples } from '../api/http/openapi/openapi-examples.ts';
import { routes } from '../api/routes.ts';
import { LINT_EXCEPTIONS } from './reference-exceptions.ts';

/** Checks the OpenAPI document by the recommended rules of Redocly and Spectral; any finding fails. */

const EXAMPLES = new URL('../api/http/openapi/openapi-examples.json', import.meta.url);
// Both linters object to localhost and to example.com as the server.
const SERVER_URL = 'https://quayside.acme.test';

interface Finding {
  rule: string;
  place: string;
  message: string;
}

async function redoclyFindings(source: string): Promise<Finding[]> {
  const config = await createConfig({ extends: ['recommended'], telemetry: 'off' });
  const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' });
  return problems.map(({ ruleId, message, location: [at] }) => ({ rule: ruleId, message, place: at?.pointer ?? '' }));
}

async function spectralFindings(document: object): Promise<Finding[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas as never, 'recommended']] });
  const results = await linter.run(document as never);
  return results.map(({ code, message, path }) => ({
    rule: String(code),
    message,
    place: `#/${path.map((segment) => String(segment).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`,
  }));
}

const examples = JSON.parse(await readFile(EXAMPLES, 'utf8')) as ReferenceExamples;
const source = JSON.stringify(openApiDocument(routes, SERVER_URL, examples));
const findings = [...(await redoclyFindings(source)), ...(await spectralFindings(JSON.parse(source) as object))];

const covers = ({ rule, place }: { rule: string; place: string }) => {
  return (finding: Finding) => finding.rule === rule && finding.place.startsWith(place);
};
const open = findings.filter((finding) => !LINT_EXCEPTIONS.some((exception) => covers(exception)(finding)));
const unused = LINT_EXCEPTIONS.filter((exception) => !findings.some(covers(exception)));
for (const { rule, place, message } of open) process.stdout.write(`${rule} ${place}: ${message}\n`);
for (const { rule, place } of unused)
  process.stdout.write(`no longer needed in reference-exceptions.ts: ${rule} ${place}\n`);
process.stdout.write(`${open.length} findings in the reference, ${findings.length - open.length} excepted\n`);
process.exitCode = open.length + unused.length === 0 ? 0 : 1;
