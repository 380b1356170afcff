import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '../../api/http/openapi/openapi.ts';
import { routes } from '../../api/routes.ts';

const ajv = new Ajv2020();
addFormats.default(ajv);

test('the reference names no format but those that validators know', () => {
  const formats = new Set<string>();
  JSON.stringify(openApiDocument(routes, 'http://localhost', {}), (name, value: unknown) => {
    if (name === 'format' && typeof value === 'string') formats.add(value);
    return value;
  });
  expect(formats).toContain('date-time');
  expect([...formats].filter((format) => !(format in ajv.formats))).toEqual([]);
});
