import { createHash } from 'node:crypto';
import type { HostCredentials, IntegrationOptions } from '../../../domain/projects/integrations/integration-rules.ts';
import { findCredentials } from '../../../domain/projects/integrations/integrations.mutations.ts';
import { usableIntegration } from '../../../domain/projects/integrations/integrations.queries.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { itemsLocation } from '../../../domain/work/work-items/tracker-location-rules.ts';
import type {
  FindWorkTracker,
  TrackerTarget,
  TrackerPlatform,
  WorkTracker,
} from '../../../domain/work/work-items/work-tracker.port.ts';
import type { Base } from '../../base.ts';
import { createHostHttp, type ExchangeWithHost } from '../git-hosts/host-http.ts';
import {
  type CallTracker,
  createTrackerLimits,
  type TrackerConnection,
  trackerCalls,
  type TrackerLimits,
} from './tracker-http.ts';
import { OAUTH_HOST, trackerA } from './work-tracker-a.ts';
import { hostATracker } from './work-tracker-host-a.ts';
import { hostBTracker } from './work-tracker-host-b.ts';

export interface WorkTrackers {
  find: FindWorkTracker;
  close: () => Promise<void>;
}

interface Located {
  baseUrl: string;
  settings: IntegrationOptions;
  /** The credential has no user name. */
  isBearer: boolean;
}

interface Vendor extends Pick<TrackerConnection, 'messageOf' | 'redirectMeans'> {
  /** The vendor's own address; null: each customer has one. */
  defaultUrl: string | null;
  headersOf: (credentials: HostCredentials) => Record<string, string>;
  /** Throws `invalid_request` where it cannot be said where the work items are. */
  connect: (call: CallTracker, target: TrackerTarget, located: Located) => WorkTracker;
}

/** The trackers of projects, with the credentials of their tenants or of people. @param timeoutMs of one call. */
export function createWorkTrackers(
  { outbound, actingAs, encryption, now }: Pick<Base, 'actingAs' | 'encryption' | 'now'> & { outbound: HostAddresses },
  timeoutMs: number,
): WorkTrackers {
  const http = createHostHttp(outbound, timeoutMs);
  const limits = createTrackerLimits(now);
  return {
    async find(target, { actor, requestId, purpose, authToken }) {
      const { platform, projectId } = target;
      const found = await actingAs(actor, { requestId })(async (tx) => {
        if (authToken === undefined) return findCredentials(tx, encryption, { kind: platform, projectId, purpose });
        const credentials: HostCredentials = { type: 'token', token: authToken };
        return { ...(await usableIntegration(tx, platform, projectId)), credentials };
      });
      if (!found) throw new DomainError('invalid_request', `The project has no integration of kind ${platform}`);
      return trackerAt(http.exchange, limits, target, found);
    },
    close: http.close,
  };
}

interface TrackerLocation {
  /** Null or undefined: the vendor's own. */
  baseUrl?: string | null;
  settings?: IntegrationOptions;
  credentials: HostCredentials;
}

/** The tracker of a target with a credential. Throws `invalid_request` where it cannot be said where the work items are. */
export function trackerAt(
  exchange: ExchangeWithHost,
  limits: TrackerLimits,
  target: TrackerTarget,
  { baseUrl: given, settings = {}, credentials }: TrackerLocation,
): WorkTracker {
  const { platform } = target;
  const { defaultUrl, headersOf, connect, ...answers } = VENDORS[platform];
  const baseUrl = (given ?? defaultUrl)?.replace(/\/+$/, '');
  if (baseUrl === undefined)
    throw new DomainError('invalid_request', `The project needs an integration of kind ${platform} with a baseUrl`);
  const headers = headersOf(credentials);
  const limitKey = createHash('sha256')
    .update(JSON.stringify([baseUrl, headers]))
    .digest('base64');
  const secrets = secretsOf(baseUrl, headers, credentials);
  const operation = () =>
    connect(trackerCalls(exchange, limits, { platform, headers, limitKey, secrets, ...answers }), target, {
      baseUrl,
      settings,
      isBearer: credentials.username === undefined,
    });
  // A target that cannot be told is refused at once.
  operation();
  return {
    fetch: (id) => operation().fetch(id),
    list: (filter) => operation().list(filter),
    create: (item) => operation().create(item),
    update: (id, change) => operation().update(id, change),
    close: (id, closing) => operation().close(id, closing),
    report: (id, report) => operation().report(id, report),
  };
}

/** Shorter ones would mask words. */
const SECRET_MIN = 4;

/** What trackers and proxies might say of a request in their messages. */
function secretsOf(baseUrl: string, headers: Record<string, string>, credentials: HostCredentials): string[] {
  const secret = secretOf(credentials);
  const { host, hostname } = new URL(baseUrl);
  const [, sent = ''] = (headers.authorization ?? '').split(' ');
  const given = [secret, sent, Buffer.from(secret).toString('base64'), encodeURIComponent(secret), host, hostname];
  return [...new Set(given)].filter((text) => text.length >= SECRET_MIN).toSorted((a, b) => b.length - a.length);
}

const basic = (username: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`,
});
const secretOf = (credentials: HostCredentials): string =>
  credentials.type === 'token' ? credentials.token : credentials.password;

/** Tokens of Entra ID are JWTs, and go as bearers; personal access tokens do not. */
const isJwt = (token: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(token);

const membersOf = (json: unknown): Record<string, unknown> =>
  typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
const textsOf = (value: unknown): string[] =>
  Object.values(membersOf(value)).filter((each): each is string => typeof each === 'string');
const joined = (...texts: unknown[]): string | undefined => {
  const given = texts.filter((text): text is string => typeof text === 'string' && text !== '');
  return given.length === 0 ? undefined : given.join('; ');
};

const setting = (settings: IntegrationOptions, name: string): string | undefined => {
  const value = settings[name];
  return value === undefined || value === '' ? undefined : String(value);
};
const unlocated = (platform: TrackerPlatform, needed: string) =>
  new DomainError(
    'invalid_request',
    `The project's repository is not on ${platform}: the integration of this kind needs ${needed} in its settings`,
  );

/** Jira's messages are read, and are else in the language of the account. */
const IN_ENGLISH = { 'accept-language': 'en', 'x-force-accept-language': 'true' };

const VENDORS: Record<TrackerPlatform, Vendor> = {
  'tracker-a': {
    defaultUrl: null,
    redirectMeans: 'auth_failed',
    messageOf(json) {
      const { errorMessages, errors } = membersOf(json);
      return joined(...textsOf(errorMessages), ...textsOf(errors));
    },
    headersOf: (credentials) =>
      credentials.username === undefined
        ? { ...IN_ENGLISH, authorization: `Bearer ${secretOf(credentials)}` }
        : { ...IN_ENGLISH, ...basic(credentials.username, secretOf(credentials)) },
    connect(call, target, { baseUrl, settings, isBearer }) {
      const cloudId = setting(settings, 'cloudId');
      if (!isBearer || cloudId === undefined) return trackerA(call, { ...target, baseUrl });
      const atOAuth = `https://${OAUTH_HOST}/ex/jira/${encodeURIComponent(cloudId)}`;
      return trackerA(call, { ...target, baseUrl: atOAuth, siteUrl: baseUrl });
    },
  },
  'host-a': {
    defaultUrl: 'https://api.github.com',
    redirectMeans: 'not_found',
    messageOf(json) {
      const { message, errors } = membersOf(json);
      const details = Array.isArray(errors) ? errors.map(membersOf) : [];
      return joined(message, ...details.map(({ field, code, message: why }) => why ?? [field, code].join(' ')));
    },
    headersOf: (credentials) => ({
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      authorization: `Bearer ${secretOf(credentials)}`,
    }),
    connect(call, { repositoryIdentifier, boards }, { baseUrl, settings }) {
      const { repository } = itemsLocation('host-a', repositoryIdentifier, settings) ?? {};
      if (repository === undefined) throw unlocated('host-a', '`repository` (owner/repo)');
      return hostATracker(call, { baseUrl, repository, boards });
    },
  },
  'host-b': {
    defaultUrl: 'https://dev.azure.com',
    redirectMeans: 'auth_failed',
    messageOf: (json) => joined(membersOf(json).message),
    headersOf(credentials) {
      const secret = secretOf(credentials);
      return isJwt(secret) ? { authorization: `Bearer ${secret}` } : basic(credentials.username ?? '', secret);
    },
    connect(call, { repositoryIdentifier, boards, issueType }, { baseUrl, settings }) {
      const { organization, project } = itemsLocation('host-b', repositoryIdentifier, settings) ?? {};
      if (organization === undefined || project === undefined)
        throw unlocated('host-b', '`organization` and `project`');
      return hostBTracker(call, { baseUrl, organization, project, boards, issueType });
    },
  },
};
