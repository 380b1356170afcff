import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beginPage, notePage } from '../../domain/browser-sessions/recording.mutations.ts';
import { SESSIONS } from '../../domain/browser-sessions/session-announcements.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { Deps } from '../deps.ts';
import type { LentBrowser, Tab } from './browser.ts';
import { EncodedFiles } from './encoded-files.ts';
import { type EncoderProgram, PICTURES_PER_SECOND } from './ffmpeg.ts';
import { type PageRow, PageStore, type PageStoreParts } from './page-store.ts';
import { RecordedPage, type RecordedPageParts } from './recorded-page.ts';

/** Tabs that are recorded at the same time: as many as a session may have. */
const TABS_MAX = 10;
/** Tabs that are recorded of a session, one after the other. */
const PAGES_MAX = 100;

export interface RecorderParts extends Pick<Deps, 'actingAs' | 'log'>, Pick<PageStoreParts, 'objects' | 'giveUpMs'> {
  encoder: EncoderProgram;
  /** Of this process alone, removed when it begins: what encoders write waits there to be stored. */
  folder: string;
  waitingMaxBytes?: RecordedPageParts['waitingMaxBytes'];
}

/** Records the tabs of a browser, each for itself. */
export interface Recorder {
  /** Ends the recording; resolves when all of it is stored, or given up. Repeating that is fine. */
  finish(): Promise<void>;
}

interface RecordedTab {
  page: RecordedPage;
  store: PageStore;
  tab: Tab;
  unwatch: () => void;
}

/** Begins to record a browser, until its end at the latest. The browser's session lives on, whatever fails here. */
export function startRecorder(browser: LentBrowser, parts: RecorderParts): Recorder {
  const { owner, tabs } = browser;
  const folder = join(parts.folder, owner.sessionId);
  const open = new Map<string, RecordedTab>();
  const all: RecordedTab[] = [];
  let finished: Promise<void> | undefined;

  const begin = (tab: Tab): void => {
    if (all.length >= PAGES_MAX || open.size >= TABS_MAX) {
      all[0]?.store.cutShort('Not all tabs were recorded: there were too many.');
      return;
    }
    const recorded = recordTab(owner, tab, { ...parts, pageId: all.length, folder: join(folder, String(all.length)) });
    open.set(tab.id, recorded);
    all.push(recorded);
    recorded.unwatch = tabs.watch(tab.id, PICTURES_PER_SECOND, (picture) => recorded.page.take(picture));
  };
  const end = ({ page, tab, unwatch }: RecordedTab): void => {
    unwatch();
    open.delete(tab.id);
    page.end();
  };
  const follow = (): void => {
    const now = new Map(tabs.list().map((tab) => [tab.id, tab]));
    for (const [id, recorded] of open) {
      const tab = now.get(id);
      if (tab) recorded.tab = tab;
      else end(recorded);
    }
    for (const [id, tab] of now) if (!open.has(id)) begin(tab);
  };
  const stopFollowing = tabs.onChange(follow);
  const finish = async (): Promise<void> => {
    stopFollowing();
    for (const recorded of open.values()) end(recorded);
    await Promise.all(all.map(({ page }) => page.done));
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  };
  const recorder = { finish: () => (finished ??= finish()) };
  follow();
  void browser.ending.then(recorder.finish);
  return recorder;
}

function recordTab(
  { tenantId, sessionId }: LentBrowser['owner'],
  tab: Tab,
  { pageId, folder, actingAs, log, objects, giveUpMs, encoder, waitingMaxBytes }: RecorderParts & { pageId: number },
): RecordedTab {
  // Nothing of what it does tells a workflow anything, which alone wants the name of the tenant.
  const change = actingAs(systemActor({ tenantId, tenantSlug: '' }, SESSIONS));
  const key = { sessionId, pageId };
  const row: PageRow = {
    begin: (page) => change((tx) => beginPage(tx, key, page)),
    note: (page) => change((tx) => notePage(tx, key, page)),
  };
  const files = new EncodedFiles(folder);
  const store = new PageStore({
    objects,
    owner: { tenantId, sessionId },
    pageId,
    files,
    row,
    title: () => recorded.tab.title,
    log,
    giveUpMs,
  });
  const page = new RecordedPage({
    encoder,
    folder,
    files,
    store,
    failed: ({ said }) => log.warn({ ...key, said }, 'an encoder of a recording ended early'),
    waitingMaxBytes,
  });
  const recorded: RecordedTab = { page, store, tab, unwatch: () => undefined };
  return recorded;
}
