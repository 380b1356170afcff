import { Cron } from 'croner';
import { invalidField } from '../../../kernel/shared/errors.ts';

const VALUE = String.raw`(?:\*|\d{1,2}|[A-Za-z]{3})`;
const FIELD = String.raw`${VALUE}(?:-${VALUE})?(?:/\d{1,2})?`;
const FIVE_FIELDS = new RegExp(String.raw`^${FIELD}(?:,${FIELD})*(?:\s+${FIELD}(?:,${FIELD})*){4}$`);

/**
 * When a schedule is next due; null when it never is again. Five fields, as in crontab(5).
 * Throws `invalid_request` for what is no schedule, or no time zone.
 */
export function nextDue({ cron, timezone }: { cron: string; timezone: string }, after: Date): Date | null {
  if (!FIVE_FIELDS.test(cron))
    throw invalidField('cron', 'must have five fields: minute, hour, day of month, month, day of week');
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone }).format(after);
  } catch {
    throw invalidField('timezone', `${timezone} is not a time zone`);
  }
  try {
    return new Cron(cron, { timezone }).nextRun(after);
  } catch (error) {
    throw invalidField('cron', (error as Error).message);
  }
}
