import { z } from 'zod';
import { momentOf } from '../../kernel/text/date-time-rules.ts';
import { DAYS, SOAK_STARTS } from './promotion-policy-rules.ts';

const Time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time from 00:00 to 23:59')
  .meta({ example: '22:00' });

function isTimezone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

const Window = z.strictObject({
  days: z.array(z.enum(DAYS)).min(1).max(DAYS.length).meta({ description: 'Days on which the window begins' }),
  from: Time,
  to: Time.meta({ description: 'Exclusive; if it is not after `from`, the window ends on the following day' }),
  timezone: z
    .string()
    .max(64)
    .refine(isTimezone, 'must be an IANA time zone')
    .default('UTC')
    .meta({ description: 'IANA time zone', example: 'Europe/Berlin' }),
});

const DateTime = z.iso
  .datetime({ offset: true })
  .refine((text) => momentOf(text) !== undefined, 'must be a time of the years 1 to 9999');

const Freeze = z
  .strictObject({
    from: DateTime,
    to: DateTime.meta({ description: 'Exclusive' }),
    reason: z.string().trim().min(1).max(500),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], message: 'must be after `from`' });

/** The shape of an environment's promotion policy. */
export const PromotionPolicySchema = z
  .strictObject({
    after: z
      .array(z.string().trim().min(1).max(255))
      .max(20)
      .optional()
      .meta({ description: 'Environments of the project in which a release must have been deployed first' }),
    soakMinutes: z.int().min(0).max(43_200).optional().meta({
      description:
        'Minutes for which it must be in use in each of `after` by then, without interruption: from the later of `deployedAt` and the receipt of the report, until another installation of its domain or packages, a failure or a rollback',
    }),
    requireVerified: z.boolean().optional().meta({
      description:
        'Whether its last deployment to each of `after` must be verified, by what the `verification` of that environment says',
    }),
    soakFrom: z.enum(SOAK_STARTS).optional().meta({
      description: '`verified`: the minutes begin when its deployment was verified; default: `deployed`',
    }),
    windows: z.array(Window).max(20).optional().meta({
      description:
        'When deployments may begin; at any time if there are none. A time that the clocks skip is the first time that exists, and a time that comes twice is the first of the two',
    }),
    freezes: z
      .array(Freeze)
      .max(100)
      .optional()
      .meta({ description: 'When no deployment may begin, whatever the windows' }),
  })
  .refine(({ after = [], soakMinutes = 0 }) => soakMinutes === 0 || after.length > 0, {
    path: ['soakMinutes'],
    message: 'needs `after`: the environments in which a release must have been deployed for so long',
  })
  .refine(({ after = [], requireVerified = false }) => !requireVerified || after.length > 0, {
    path: ['requireVerified'],
    message: 'needs `after`: the environments in which the deployment of a release must be verified',
  })
  .refine(({ soakFrom, requireVerified = false }) => soakFrom !== 'verified' || requireVerified, {
    path: ['soakFrom'],
    message: 'needs `requireVerified`',
  });
