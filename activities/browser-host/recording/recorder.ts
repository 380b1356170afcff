import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beginPage, notePage } from '../../../domain/review/browser-sessions/recordings/recording.mutations.ts';
import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import type { SessionBrowser, Tab } from '../chromium/browser.ts';
import { EncodedFiles } from './encoded-files.ts';
import { type EncoderProgram, PICTURES_PER_SECOND, startEncoder } from './ffmpeg.ts';
import { type PageRow, PageStore, type PageStoreParts } from './page-store.ts';
import { RecordedPage, type RecordedPageParts } from './recorded-page.ts';

/** Tabs that are recorded at the same time: as many as a session may have. */
const TABS_MAX = 10;
/** Tabs that are recorded of a session, one after the other; those without a picture do not count. */
const PAGES_MAX = 100;

export interface RecorderParts extends Pick<Deps, 'actingAs' | 'log'>, Pick<PageStoreParts, 'objects' | 'giveUpMs'> {
  encoder: EncoderProgram;
  /** Folder of this process alone, removed when it begins: what encoders write waits there to be stored. */
  folder: string;
  waitingMaxBytes?: RecordedPageParts['waitingMaxBytes'];
  pagesMax?: number;
}

/** Records the tabs of a browser, each for itself. */
export interface Recorder {
  /** Ends the recording; resolves when all of it is stored, or given up. Repeating that is fine. */
  finish(): Promise<void>;
}

interface TabRecording {
  page: RecordedPage;
  store: PageStore;
}

interface OpenTab {
  tab: Tab;
  /** Undefined: there is no picture of it yet. */
  recording: TabRecording | undefined;
  unwatch: () => void;
}

/** Begins to record a browser, until its end at the latest. The browser's session lives on, whatever fails here. */
export function startRecorder(browser: SessionBrowser, parts: RecorderParts): Recorder {
  const { owner, tabs } = browser;
  const folder = join(parts.folder, owner.sessionId);
  const pagesMax = parts.pagesMax ?? PAGES_MAX;
  const open = new Map<string, OpenTab>();
  const all: TabRecording[] = [];
  let missing: Promise<void> | undefined;
  let finished: Promise<void> | undefined;

  const begin = (tab: Tab): void => {
    if (all.length >= pagesMax || open.size >= TABS_MAX) return leaveOut();
    const opened: OpenTab = { tab, recording: undefined, unwatch: () => undefined };
    open.set(tab.id, opened);
    opened.unwatch = tabs.watch(tab.id, PICTURES_PER_SECOND, (picture) => {
      if (!opened.recording) {
        if (all.length >= pagesMax) return leaveOut();
        const pageId = all.length;
        const path = join(folder, String(pageId));
        opened.recording = recordTab(owner, () => opened.tab.title, { ...parts, pageId, folder: path });
        all.push(opened.recording);
      }
      opened.recording.page.take(picture);
    });
  };
  /** Says in a page that goes on, or in the last one, that tabs are missing. */
  const leaveOut = (): void => {
    missing ??= noteMissing([...open.values()].find(({ recording }) => recording)?.recording, all.at(-1));
  };
  const end = ({ recording, tab, unwatch }: OpenTab): void => {
    unwatch();
    open.delete(tab.id);
    recording?.page.end();
  };
  const follow = (): void => {
    const now = new Map(tabs.list().map((tab) => [tab.id, tab]));
    for (const [id, opened] of open) {
      const tab = now.get(id);
      if (tab) opened.tab = tab;
      else end(opened);
    }
    for (const [id, tab] of now) if (!open.has(id)) begin(tab);
  };
  const stopFollowing = tabs.onChange(follow);
  const finish = async (): Promise<void> => {
    stopFollowing();
    for (const opened of open.values()) end(opened);
    await Promise.all([...all.map(({ page }) => page.done), missing]);
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  };
  const recorder = { finish: () => (finished ??= finish()) };
  follow();
  void browser.ending.then(recorder.finish);
  return recorder;
}

const MISSING = 'Not all tabs were recorded: there were too many.';

async function noteMissing(running: TabRecording | undefined, last: TabRecording | undefined): Promise<void> {
  if (running) return running.store.cutShort(MISSING);
  await last?.page.done;
  await last?.store.cutShortLate(MISSING);
}

function recordTab(
  { tenantId, sessionId }: SessionBrowser['owner'],
  title: () => string,
  { pageId, folder, actingAs, log, objects, giveUpMs, encoder, waitingMaxBytes }: RecorderParts & { pageId: number },
): TabRecording {
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
    title,
    log,
    giveUpMs,
  });
  const page = new RecordedPage({
    startEncoder: (part) => startEncoder(encoder, part),
    folder,
    files,
    store,
    failed: ({ said }) => log.warn({ ...key, said }, 'an encoder of a recording ended early'),
    waitingMaxBytes,
  });
  return { page, store };
}
