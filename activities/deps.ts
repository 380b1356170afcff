import type { Registry } from 'prom-client';
import type { Database } from '../domain/kernel/data/tables.ts';
import type { CodeAnalyzer } from '../domain/insight/code-analysis/jobs/code-analyzer.port.ts';
import type { Commands } from '../domain/delivery/flows/programs/commands-file.ts';
import type { AskModel } from '../domain/insight/language-models/ask-model.port.ts';
import type { CreateBranch, FindGitHost } from '../domain/code/git-hosts/git-host.port.ts';
import type { FindPullRequestHost } from '../domain/code/pull-requests/pull-request-host.port.ts';
import type { GitMirrors } from '../domain/code/git/mirror/git-mirrors.port.ts';
import type { WebhookSender } from '../domain/events/webhooks/webhook-sender.port.ts';
import type { ForwardUpstream } from '../domain/mocks/serving/upstream.port.ts';
import type { Backend } from './backend.ts';
import type { SessionProviders } from './review/browser-sessions/browser-sessions.activities.ts';
import type { CommandRuns } from './delivery/flows/command-runs.ts';

/** What activities reach, by feature; made once by the composition root. */
export interface Deps
  extends Pick<
    Backend,
    | 'actingAs'
    | 'reads'
    | 'launch'
    | 'environmentLocks'
    | 'encryption'
    | 'objects'
    | 'chat'
    | 'publicUrl'
    | 'crm'
    | 'orgPolls'
    | 'findWorkTracker'
    | 'metricsStore'
    | 'log'
    | 'now'
  > {
  /** Statements of the system role, which works across tenants; ADR 2 says what it sees. */
  system: Database;
  /** What this process measures. */
  metrics: Registry;
  /** Asks the language model of a project. */
  askModel: AskModel;
  browsers: SessionProviders & {
    /** For how many days recordings are kept. */
    recordingDays: number;
    sessionsPerTenant: number;
  };
  flows: {
    /** Programs that the operator allows, by type of flow. */
    commands: Commands;
    commandRuns: CommandRuns;
  };
  analysis: {
    analyzer: CodeAnalyzer;
    /** Analyses of this process at the same time. */
    atOnce: number;
  };
  git: {
    findHost: FindGitHost;
    findPullRequestHost: FindPullRequestHost;
    createBranch: CreateBranch;
    mirrors: GitMirrors;
    /** How long what is known of a mirror counts as current. */
    fetchEverySeconds: number;
  };
  mocks: { forward: ForwardUpstream };
  orgExplorer: {
    /** Types whose source is read only when somebody asks for it. */
    indexOnly: ReadonlySet<string>;
    /** How long a refresh waits when the org's calls are used up. */
    pauseSeconds: number;
    /** How long it waits before it first asks how far an order is. */
    pollMs: number;
  };
  /** For how many days what has ended is kept. */
  retention: { reviewDays: number; pullRequestDays: number; mockCallDays: number };
  webhooks: {
    /** Connections with the role of the system, for the statements of the delivery lanes alone. */
    lanes: Database;
    send: WebhookSender;
    /** How long deliveries are kept. */
    logRetentionDays: number;
  };
}
