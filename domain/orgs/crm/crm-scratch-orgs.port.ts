import type { CrmAnswer } from './crm-platform.port.ts';

/** What a dev hub is asked for; the app that signs in to the new org is the platform's own. */
export interface SignupOrder {
  /** By the platform's names of fields of `ScratchOrgInfo`: `Edition`, `Features` as `A;B`, `OrgName`. */
  fields: Readonly<Record<string, string | number | boolean>>;
  /** Free text that stays with the row, by which it is found again. */
  description: string;
  /** 1 to 30. */
  durationDays: number;
}

/** How far a dev hub is with a scratch org. */
export interface Signup {
  id: string;
  /** An open set: `New`, `Creating`, `Active`, `Error`, `Deleted`. */
  status: string;
  /** `C-1007`; null where it has not failed. */
  errorCode: string | null;
  username: string | null;
  /** Where its code is exchanged: an origin, checked against the address policy; null before there is one. */
  loginUrl: string | null;
  /** The day on which it ends, `2026-12-01`. */
  expirationDate: string | null;
}

/** A row of a dev hub, for finding what was asked for. */
export interface MarkedSignup {
  id: string;
  description: string;
}

/**
 * Scratch orgs of a dev hub. A call that breaks off (`unreachable`, `timeout`) may have been done: the caller looks at
 * `signupsSince` before it tries again, since failed signups count against the limits of the hub, too.
 */
export interface CrmScratchOrgs {
  createSignup: (order: SignupOrder) => Promise<CrmAnswer<{ signupId: string }>>;
  /** Null: there is no such row. */
  signup: (signupId: string) => Promise<CrmAnswer<Signup | null>>;
  /** What one user has asked for since then. @param since ISO 8601. */
  signupsSince: (of: { userId: string; since: string }) => Promise<CrmAnswer<MarkedSignup[]>>;
  /** The code for signing in to an active org, which works once: a secret; null: the hub has none. */
  signupCode: (signupId: string) => Promise<CrmAnswer<string | null>>;
  /** Deletes an active org; false: the hub has no such active org. */
  deleteScratchOrg: (signupId: string) => Promise<CrmAnswer<boolean>>;
}
