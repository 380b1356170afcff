import { MAIL_TIMEOUT_MS, type Mailer, type MailOutcome } from '../../../domain/kernel/mail/mailer.port.ts';
import { within } from '../../../domain/kernel/queues/within.ts';

/** Time-out of each step of the dialogue, shorter than that of the whole. */
const STEP_TIMEOUT_MS = 5_000;

/**
 * Sends by SMTP (RFC 5321), with STARTTLS where the server offers it.
 * @param smtpUrl `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte.
 * @param from `Name <address>` or an address.
 */
export function createSmtpMailer(smtpUrl: string, from: string, timeoutMs = MAIL_TIMEOUT_MS): Mailer {
  const stepMs = Math.min(STEP_TIMEOUT_MS, timeoutMs);
  // Loaded only where a mail server is configured.
  const transport = import('nodemailer').then(({ createTransport }) =>
    createTransport({
      url: smtpUrl,
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      socketTimeout: stepMs,
      dnsTimeout: stepMs,
      // No part of a mail may be loaded from a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  );
  return async ({ to, subject, text, html }) => {
    const sent = transport
      .then((server) => server.sendMail({ from, to: { name: '', address: to }, subject, text, html }))
      .then((): MailOutcome => ({ outcome: 'sent' }))
      .catch((error: unknown): MailOutcome => ({ outcome: 'failed', reason: reasonOf(error) }));
    return within(timeoutMs, sent, () => ({ outcome: 'failed', reason: 'the mail server did not answer in time' }));
  };
}

/** Not the server's own message, which may repeat addresses. */
function reasonOf(error: unknown): string {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  if (code === 'ETIMEDOUT') return 'the mail server did not answer in time';
  if (code === 'EAUTH') return 'the mail server refused the sign-in of the service';
  if (responseCode !== undefined) return `the mail server refused the mail (${responseCode})`;
  return 'the mail server is not reachable';
}
