import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { BrowserProviderName, Viewport } from './browser-provider.port.ts';
import type { Isolation } from '../../kernel/settings/isolation-rules.ts';
import type { LiveMode } from './live/live-viewer-rules.ts';
import type { RecordingState, SessionStatus, StatusReason } from './session-rules.ts';

/** A browser that is allocated for a time, signed in to an org. */
export const BrowserSessionSchema = defineEntity({
  name: 'BrowserSession',
  tableName: 'browser_session',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    /** A pull request has one session at most that is provisioning or live. */
    prNumber: p.integer().nullable(),
    environmentId: p.uuid().nullable(),
    /** Review assignment of the pull request by which the org was found; null: the org was found otherwise. */
    assignmentId: p.uuid().nullable(),
    orgUsername: p.text(),
    provider: p.text().$type<BrowserProviderName>(),
    status: p.text().$type<SessionStatus>().default('provisioning'),
    statusReason: p.text().$type<StatusReason>().nullable(),
    /** For people: a hint of what to do. */
    statusDetail: p.text().nullable(),
    isolation: p.text().$type<Isolation>().nullable(),
    providerSessionId: p.text().nullable(),
    /** Page of an external worker's session, as given; sessions of other providers have a page of ours. */
    liveViewUrl: p.text().nullable(),
    /** On which it runs or ran; null: not on one of ours, or not yet. */
    hostId: p.uuid().nullable(),
    /** How long it was asked for. */
    minutes: p.integer(),
    /** A path within the org; null: its home page. */
    startPath: p.text().nullable(),
    viewport: jsonColumn<Viewport>(),
    /** Beside the org's own; of the environment and of the request. */
    allowedHosts: jsonColumn<string[]>().defaultRaw("'[]'::jsonb"),
    isRecorded: p.boolean().default(true),
    expiresAt: p.datetime(3),
    recordingState: p.text().$type<RecordingState>().default('none'),
    recordingPages: p.integer().default(0),
    recordingBytes: p.bigint('string').defaultRaw('0'),
    recordingReason: p.text().nullable(),
    flowRunId: p.uuid().nullable(),
    createdBy: jsonColumn<Actor>(),
    liveAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    /** When the provider had said that it is gone, or nothing was ever provisioned. */
    releasedAt: p.datetime(3).nullable(),
    /** When it was deleted: nobody sees it any more; what is left at the provider and in the store is being removed. */
    removedAt: p.datetime(3).nullable(),
    /** When its workflow last saw it. */
    seenAt: p.datetime(3).nullable(),
  },
});
export class BrowserSession extends BrowserSessionSchema.class {}
BrowserSessionSchema.setClass(BrowserSession);

/** An entry of a session's timeline. */
export const BrowserSessionEventSchema = defineEntity({
  name: 'BrowserSessionEvent',
  tableName: 'browser_session_event',
  properties: {
    tenantId: p.uuid().primary(),
    sessionId: p.uuid().primary(),
    number: p.bigint('string').generated('identity').autoincrement().primary(),
    projectId: p.uuid(),
    occurredAt: p.datetime(3),
    kind: p.text(),
    summary: p.text(),
    byEmail: p.text(),
    data: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
  },
});

/** The recording of one tab; its playlist and segments are in the object store. */
export const BrowserReplayPageSchema = defineEntity({
  name: 'BrowserReplayPage',
  tableName: 'browser_replay_page',
  properties: {
    tenantId: p.uuid().primary(),
    sessionId: p.uuid().primary(),
    /** From 0 on, in the order in which the tabs were opened. */
    pageId: p.integer().primary(),
    projectId: p.uuid(),
    title: p.text().default(''),
    /** When the first picture was taken; `endedAt` is that of the last. */
    startedAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
    segments: p.integer().default(0),
    bytes: p.bigint('string').defaultRaw('0'),
    /** False: something of it is missing. */
    isWhole: p.boolean().default(true),
    /** Why, for people. */
    reason: p.text().nullable(),
  },
});

/** A link by which people without an account watch a session. The link itself is signed, and kept nowhere. */
export const BrowserLiveLinkSchema = defineEntity({
  name: 'BrowserLiveLink',
  tableName: 'browser_live_link',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    sessionId: p.uuid(),
    mode: p.text().$type<LiveMode>(),
    expiresAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    createdBy: jsonColumn<Actor>(),
  },
});

/** A process that runs browsers, for all tenants. */
export const BrowserHostSchema = defineEntity({
  name: 'BrowserHost',
  tableName: 'browser_host',
  properties: {
    id: p.uuid().primary(),
    /** Name of the machine. */
    name: p.text(),
    /** Its own task queue, by which its sessions are held and released. */
    queue: p.text(),
    /** `http://` address at which the API reaches it for live views; null: it takes none. */
    address: p.text().nullable(),
    isolation: p.text().$type<Isolation>(),
    /** A JSON Web Key, with which addresses at which sessions begin are sealed for it; null: of an earlier version. */
    startUrlKey: p.text().nullable(),
    /** Whether it can record. */
    records: p.boolean(),
    /** Why it allocates no browsers, or does not record; null: it does both. */
    trouble: p.text().nullable(),
    /** Sessions at the same time. */
    places: p.integer(),
    placesUsed: p.integer().default(0),
    startedAt: p.datetime(3),
    /** Its last heartbeat. */
    seenAt: p.datetime(3),
  },
});
export class BrowserHost extends BrowserHostSchema.class {}
BrowserHostSchema.setClass(BrowserHost);
