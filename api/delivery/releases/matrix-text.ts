import type { z } from 'zod';
import { withMember } from '../../http/replies.ts';
import { MatrixRow, ReleaseMatrix } from './matrix.schemas.ts';

const MatrixFacts = ReleaseMatrix.omit({ rows: true });
const RowFacts = MatrixRow.omit({ cells: true });

/** A matrix whose cells are as the schema has them: moments are texts already. */
type Written = Omit<z.input<typeof ReleaseMatrix>, 'rows'> & {
  rows: (Omit<z.input<typeof MatrixRow>, 'cells'> & {
    cells: readonly z.output<typeof MatrixRow>['cells'][number][];
  })[];
};

/** A matrix as JSON. Its cells, which are up to 1,500, are not parsed again. */
export function matrixText({ rows, ...facts }: Written): string {
  const texts = rows.map(({ cells, ...row }) => withMember(RowFacts.parse(row), 'cells', JSON.stringify(cells)));
  return withMember(MatrixFacts.parse(facts), 'rows', `[${texts.join(',')}]`);
}
