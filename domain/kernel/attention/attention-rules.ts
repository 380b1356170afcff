/** What a person should look at. */
export const ATTENTION_KINDS = [
  'approval_expiring',
  'browser_hosts_missing',
  'delivery_given_up',
  'limit_forecast',
  'lock_overdue',
  'mirror_stale',
  'org_sign_in_failed',
  'run_failed',
  'schedule_refused',
  'token_expiring',
  'webhook_disabled',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** Something that a person should look at, as it is now. */
export interface Need {
  /** Id of the thing that it is about; of each kind a thing has one. */
  key: string;
  /** The thing, as people call it. */
  title: string;
  /** Why, in a sentence. */
  reason: string;
  /** ISO 8601. */
  since: string;
  repositoryIdentifier: string | null;
  /** Parameters of the path of the rule's action. */
  params: Readonly<Record<string, string>>;
  /** Parameters of its query. */
  query?: Readonly<Record<string, string>>;
  /** What of it counts as news, with when it began: when this changes, an acknowledgement holds no longer. */
  state: string;
}
