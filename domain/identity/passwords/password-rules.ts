export const PASSWORD_MIN = 12;
export const PASSWORD_MAX = 1_024;
/** Fewer different characters than this are a pattern, not a password. */
const DISTINCT_MIN = 5;

interface Circumstances {
  /** Whether a text in lower case is on the list of common passwords. */
  isCommon: (text: string) => boolean;
  /** E-mail of the person whose password it is to be. */
  email: string;
}

/**
 * Why a password is refused, as a clause without a subject; undefined when it is fine. Length counts characters as
 * people see them. A common password stays one when it is repeated or gets digits and signs around it.
 */
export function weaknessOf(password: string, { isCommon, email }: Circumstances): string | undefined {
  const length = [...password].length;
  if (length < PASSWORD_MIN) return `must have at least ${PASSWORD_MIN} characters`;
  if (length > PASSWORD_MAX) return `must have at most ${PASSWORD_MAX} characters`;
  const lower = password.toLowerCase();
  if (new Set(lower).size < DISTINCT_MIN) return 'repeats too few different characters';
  const [account = ''] = email.toLowerCase().split('@');
  const core = lower.replace(/^[\d\W_]+|[\d\W_]+$/g, '');
  if (lower === email.toLowerCase() || (core !== '' && core === account)) return 'must not be the e-mail address';
  if ([lower, core, repeatedPart(lower), repeatedPart(core)].some((text) => text !== '' && isCommon(text))) {
    return 'is a common password';
  }
  return undefined;
}

/** `abc` of `abcabc`; empty when the text repeats nothing. */
const repeatedPart = (text: string): string => /^(.+?)\1+$/su.exec(text)?.[1] ?? '';
