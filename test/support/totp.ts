import { type TOTP, URI } from 'otpauth';

/** The code that an authenticator app shows for an otpauth URI, some steps of 30 s from now. */
export const codeOf = (uri: string, stepsFromNow = 0): string =>
  (URI.parse(uri) as TOTP).generate({ timestamp: Date.now() + stepsFromNow * 30_000 });
