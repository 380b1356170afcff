/** Days on which a window may begin, as its time zone has them. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

/** When deployments may begin, in the local time of its zone. */
export interface PromotionWindow {
  /** Days on which it begins. */
  days: Day[];
  /** `HH:MM`. */
  from: string;
  /** `HH:MM`, exclusive; not after `from`: of the day after. */
  to: string;
  /** IANA name. */
  timezone: string;
}

/** When no deployment may begin, whatever the windows say. */
export interface Freeze {
  /** ISO 8601, inclusive. */
  from: string;
  /** ISO 8601, exclusive. */
  to: string;
  reason: string;
}

export const SOAK_STARTS = ['deployed', 'verified'] as const;
type SoakStart = (typeof SOAK_STARTS)[number];

/** What a release must meet before it goes to an environment. */
export interface PromotionPolicy {
  /** Environments in which it must have been deployed first. */
  after?: string[] | undefined;
  /** For how long it must be in use there, without interruption. */
  soakMinutes?: number | undefined;
  /** Its deployment there must be verified, too. */
  requireVerified?: boolean | undefined;
  /** Since when it counts as being in use there; `deployed` when absent. */
  soakFrom?: SoakStart | undefined;
  /** None: always, but for freezes. */
  windows?: PromotionWindow[] | undefined;
  freezes?: Freeze[] | undefined;
}

/** An owner's reason to pass windows, freezes and what must be deployed before, for one run. */
export interface Override {
  reason: string;
  /** E-mail of the owner. */
  by: string;
  /** ISO 8601. */
  at: string;
}
