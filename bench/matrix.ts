import { parseArgs } from 'node:util';
import { Figures } from './figures.ts';
import { ENVIRONMENTS, fillMatrix, repositoryIdentifier } from './matrix-stage.ts';
import { noteRepeated, timed } from './repeated-calls.ts';
import { startService } from './service.ts';

/**
 * Measures the release matrix through the whole stack: the first and the tenth page of 50 rows and 30 columns over 10,000
 * candidates, of which the newest 1,000 went to all environments, and the others, which were superseded, to three.
 * Option: `--rounds 3`.
 */
const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const PAGES = 10;

const service = await startService([]);
try {
  await fillMatrix(service);
  const base = `/api/releases/matrix?${new URLSearchParams({ repositoryIdentifier, limit: '50' }).toString()}`;
  let tenth = base;
  for (let page = 1; page < PAGES; page++) {
    const { nextCursor } = await service.call<{ nextCursor: string }>('GET', tenth);
    tenth = `${base}&cursor=${encodeURIComponent(nextCursor)}`;
  }
  const { kilobytes } = await timed(service, base);
  console.log(`a page of 50 rows and ${ENVIRONMENTS} columns: ${kilobytes.toFixed(0)} kB by gzip`);
  const figures = new Figures();
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    await noteRepeated(service, figures, 'first page', base, '<= 60');
    await noteRepeated(service, figures, 'tenth page', tenth, '<= 60');
    await noteRepeated(service, figures, 'where', `/api/releases/where?repositoryIdentifier=${repositoryIdentifier}`);
  }
  figures.print();
} finally {
  await service.stop();
}
