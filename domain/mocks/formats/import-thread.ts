import { parentPort, workerData } from 'node:worker_threads';
import { createStandIns } from '../secret-fields.ts';
import { importHar } from './har.ts';
import { FormatError, type Imported } from './imported.ts';
import { importOpenApi } from './openapi.ts';
import type { ImportOrder, ImportOutcome } from './read-import.ts';
import { TooManyValuesError } from './sample-schema-rules.ts';
import { importWireMock } from './wiremock.ts';
import { importYaml } from './yaml-format.ts';

function read({ format, content, standInKey, origin }: ImportOrder): Imported {
  switch (format) {
    case 'yaml':
      return importYaml(content);
    case 'har':
      return importHar(content, createStandIns(standInKey), origin);
    case 'openapi':
      return importOpenApi(content);
    case 'wiremock':
      return importWireMock(content);
  }
}

function outcome(order: ImportOrder): ImportOutcome {
  try {
    return { imported: read(order) };
  } catch (error) {
    if (error instanceof FormatError || error instanceof TooManyValuesError) return { refusal: error.message };
    // Too deep, or a text that would be too long to write.
    if (error instanceof RangeError) return { refusal: 'The document is too large when it is read' };
    throw error;
  }
}

parentPort?.postMessage(outcome(workerData as ImportOrder));
