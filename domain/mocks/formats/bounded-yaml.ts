import { isScalar, parseDocument, visit } from 'yaml';
import { FormatError } from './imported.ts';

/** The parser takes a second for each 1 MB of short lines. */
const YAML_MAX_BYTES = 16 * 1024 * 1024;
/** The parser is recursive, and so is what reads its result. */
const LEVELS_MAX = 100;

/**
 * Reads YAML 1.2 as JSON values. Aliases are refused: a few lines of them can stand for a billion values. So is what JSON
 * has no form for, as numbers that JavaScript does not hold exactly. Throws `FormatError`.
 */
export function readYaml(content: string): unknown {
  if (Buffer.byteLength(content) > YAML_MAX_BYTES)
    throw new FormatError(`The YAML is larger than ${YAML_MAX_BYTES / 1024 / 1024} MB`);
  try {
    const document = parseDocument(content, {
      version: '1.2',
      schema: 'core',
      // Comparing each name with each takes the parser a minute for 40,000 of them.
      uniqueKeys: false,
    });
    const [error] = [...document.errors, ...document.warnings];
    if (error) throw new FormatError(`The YAML cannot be read: ${error.message.split('\n')[0]}`);
    visit(document, {
      Alias() {
        throw new FormatError('Aliases are not taken in YAML: write what they stand for');
      },
      Map(_key, { items }) {
        const names = new Set<string>();
        for (const { key } of items) {
          if (!isScalar(key)) throw new FormatError('Names of members must be texts in YAML');
          const name = String(key.value);
          if (names.has(name)) throw new FormatError(`The name ${name.slice(0, 100)} is repeated in the YAML`);
          names.add(name);
        }
      },
      Scalar(_key, { value, source }) {
        if (!isJsonScalar(value, source))
          throw new FormatError(`The value ${String(value).slice(0, 100)} has no form in JSON; write it as a text`);
      },
      Node(_key, _node, path) {
        if (path.length > LEVELS_MAX * 2) throw new RangeError();
      },
    });
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof RangeError) throw new FormatError('The YAML is nested too deep');
    throw error;
  }
}

/** @param source how it is written: a number must not change by being read. */
function isJsonScalar(value: unknown, source = ''): boolean {
  if (typeof value !== 'number') return value === null || typeof value === 'string' || typeof value === 'boolean';
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source) || String(value) === source;
}
