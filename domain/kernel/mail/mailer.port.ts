export interface Mail {
  /** One bare address. */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export type MailOutcome = { outcome: 'sent' } | { outcome: 'failed'; reason: string };

/** Hands a mail to the mail server. Never throws, and answers within `MAIL_TIMEOUT_MS`; the reason names no address or secret. */
export type Mailer = (mail: Mail) => Promise<MailOutcome>;

/** A request that sends a mail waits so long at most. */
export const MAIL_TIMEOUT_MS = 8_000;
