/** What people do about errors of signups (forcedotcom/sfdx-core, `scratchOrgErrorCodes`). */
const ADVICE: Readonly<Record<string, string>> = {
  'C-1007': 'its username is taken',
  'C-1015': 'the platform could not name it; try again later',
  'C-1016': 'the dev hub does not approve the app that signs in: External Client Apps cannot be used for it',
  'C-1020': 'its template or snapshot is not known',
  'T-0002': 'its template or snapshot is not known',
  'S-1017': 'the namespace is not registered in the dev hub',
  'S-1026': 'the namespace is not valid',
  'S-1018': 'its My Domain name is not valid or taken',
  'S-1019': 'its My Domain name is not valid or taken',
  'SH-0001': 'the shape of its source org cannot be used',
  'SH-0002': 'the shape of its source org is not found',
  'SH-0003': 'the shape of its source org is too old',
  'S-9999': 'the platform failed; try again later',
  'C-9999': 'the platform failed; try again later',
};

/** Why a signup failed, for people. @param code of the platform, an open set. */
export const signupErrorText = (code: string | null): string =>
  code === null
    ? 'The dev hub could not make it, and does not say why'
    : `The dev hub could not make it (${code})${ADVICE[code] === undefined ? '' : `: ${ADVICE[code]}`}`;
