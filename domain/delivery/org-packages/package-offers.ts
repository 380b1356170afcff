import type { Tx } from '../../unit-of-work.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { whyNoOrg } from '../org-steps/org-of-run.ts';
import { askedNames, askedPackages, isVersionId } from './package-name-rules.ts';

type Run = NonNullable<OfferedType['run']>;

const NOTHING = 'The payload names no packages';
const NO_REPOSITORY =
  'Versions are named by aliases, which are those of a repository: name it, or versions by their ids (04t…)';

function whyNothing({ payload }: Run): string | null {
  const asked = askedPackages(payload);
  if (asked.length === 0) return NOTHING;
  const isKnown = payload.repositoryIdentifier !== undefined || asked.every(({ version }) => isVersionId(version));
  return isKnown ? null : NO_REPOSITORY;
}

const PACKAGE_TYPES: ReadonlyMap<string, (run: Run) => string | null> = new Map([
  ['install-packages', whyNothing],
  ['uninstall-packages', ({ payload }: Run) => (askedNames(payload).length > 0 ? null : NOTHING)],
]);

/** Why the service cannot install or uninstall packages, as far as the database knows: no such org, or none is named. Null: it can. */
export async function whyNotPackages(tx: Tx, { id, run }: OfferedType): Promise<string | null> {
  const whyNot = PACKAGE_TYPES.get(id);
  if (!whyNot) return null;
  return (await whyNoOrg(tx, run)) ?? (run ? whyNot(run) : null);
}
