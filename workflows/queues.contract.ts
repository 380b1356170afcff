/** The task queues of the service: a worker serves all of them, or those that it is told. */

/** What asks language models. */
export const AI_QUEUE = 'ai-v1';

/** Checkouts and analyses of code, a few at once. */
export const ANALYSIS_QUEUE = 'analysis-v1';

/** Approvals. */
export const APPROVALS_QUEUE = 'approvals-v1';

/** Exports of the audit trail. */
export const AUDIT_QUEUE = 'audit-v1';

/** Browser sessions. */
export const BROWSER_SESSIONS_QUEUE = 'browser-sessions-v1';

/** Programs of the operator's list: only workers of this queue need them. */
export const COMMANDS_QUEUE = 'commands-v1';

/** Everything that calls CRM orgs. */
export const CRM_QUEUE = 'crm-v1';

/** Queues of locks, and leases of review environments. */
export const ENVIRONMENT_LOCKS_QUEUE = 'environment-locks-v1';

/** Runs. */
export const FLOWS_QUEUE = 'flows-v1';

/** What runs git, and asks hosts of git. */
export const GIT_QUEUE = 'git-v1';

/** Release events. */
export const RELEASES_QUEUE = 'releases-v1';

/** Sweeps and metrics. */
export const SYSTEM_QUEUE = 'system-v1';

/** Deliveries of webhooks, and messages of chats. */
export const WEBHOOKS_QUEUE = 'webhooks-v1';
