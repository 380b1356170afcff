import fc from 'fast-check';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Email } from '../../api/http/parameters.ts';
import { openApiDocument } from '../../api/http/openapi/openapi.ts';
import { routes } from '../../api/routes.ts';
import { propertyRuns } from '../support/property-runs.ts';

const document = openApiDocument(routes, 'http://localhost', {});

/** Every e-mail that a request may have, as the reference describes it. */
function emailsIn(value: unknown, place = ''): [string, object][] {
  if (value === null || typeof value !== 'object') return [];
  if ('format' in value && value.format === 'email') return [[place, value]];
  return Object.entries(value).flatMap(([name, member]) => emailsIn(member, `${place}/${name}`));
}

test.each(emailsIn(document.paths))('an e-mail is accepted exactly if the reference describes it: %s', (_, schema) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const isDescribed = ajv.compile(schema);
  const part = fc.string({ unit: fc.constantFrom(...`azAZ09.-_+'!#%&/=?"@ ()\\é\n`), maxLength: 8 });
  const candidate = fc.oneof(
    fc
      .tuple(part, fc.constantFrom('@', '', '@a.'), part, fc.constantFrom('.example', '.x', '', '-.com'))
      .map((parts) => parts.join('')),
    fc.emailAddress(),
    fc.constantFrom(
      `${'a'.repeat(243)}@example.com`,
      `${'a'.repeat(242)}@example.com`,
      'a@b-.com',
      'a@-b.com',
      "o'n@a.io",
    ),
  );
  fc.assert(
    fc.property(candidate, (text) => {
      expect([text, Email.safeParse(text).success]).toEqual([text, isDescribed(text)]);
    }),
    propertyRuns(1_500, 5_000),
  );
});
