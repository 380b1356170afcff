export interface NightlyAnalysisInput {
  /** The date of its beginning (UTC); absent: today. */
  night?: string;
  /** When it began, in epoch milliseconds. */
  startedAt?: number;
  /** Between two looks at what is under way; 15 s by default. */
  pauseMs?: number;
}

/** When the branches of all tenants are analysed. */
export const ANALYSIS_NIGHT = { cron: '0 3 * * *', timezone: 'UTC' };

/** The one schedule of an installation by which that begins. */
export const nightlyAnalysisId = (queuePrefix: string): string => `system/${queuePrefix}nightly-analysis`;
