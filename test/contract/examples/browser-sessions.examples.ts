import { newId } from '../../../domain/kernel/shared/ids.ts';
import type { Json } from '../../support/client.ts';
import { recordedSession } from '../../support/recorded-session.ts';
import { featureExamples, fresh } from './example.ts';

export const browserSessionsExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const recorded = `acme/${fresh('recorded')}`;
    await owner.post(201, '/api/projects', {
      identifier: recorded,
      platform: 'host-a',
      configuration: { recordPipeline: { id: 'record.yml' } },
    });
    const { id: envId } = await owner.post(201, '/api/environments', {
      repositoryIdentifier: recorded,
      name: 'review',
      category: 'test',
      orgUsername: 'review@acme.example.com',
      browser: { allowedHosts: ['*.crm.example.com'], recording: true },
    });
    await owner.post(201, '/api/review/assignments', {
      repositoryIdentifier: recorded,
      assignmentType: 'pr',
      assignmentId: '118',
      environmentName: 'review',
    });
    const session = async (): Promise<string> => {
      const { id }: Json = await owner.post(202, `/api/environments/${envId}/browser/record`, {});
      return id;
    };
    const [liveId, reportedId, stoppedId, deletedId] = [
      await session(),
      await session(),
      await session(),
      await session(),
    ];
    await app.as(app.application).patch(200, `/api/browser-sessions/${liveId}`, {
      status: 'live',
      providerSessionId: 'b7c1',
      liveViewUrl: 'https://browsers.example.com/b7c1',
    });
    const { id: projectId }: Json = await owner.get(200, `/api/projects/${encodeURIComponent(recorded)}`);
    const [playedId, replayedId] = [
      await recordedSession(app, { projectId, environmentId: envId }),
      await recordedSession(app, { projectId, environmentId: envId }),
    ];
    const watchedId = await recordedSession(app, { projectId, isLive: true, recordingState: 'none' });
    const link = { mode: 'watch', minutes: 30 };
    const { id: linkId }: Json = await owner.post(201, `/api/browser-sessions/${watchedId}/live-links`, link);
    // Opened by somebody else: what the examples open is to be noted.
    const { text } = await app.as(app.member).request(200, 'GET', `/api/browser-sessions/${playedId}/replays/0`);
    const reference = text.split('u=').at(-1)?.split('\n')[0] ?? '';
    const connectedId = await recordedSession(app, { projectId, environmentId: envId, recordingState: 'none' });
    const [host] = await app.db
      .insertInto('browser_host')
      .values({
        id: newId(),
        name: 'host-1',
        queue: fresh('host'),
        address: 'http://127.0.0.1:9',
        isolation: 'jailed',
        records: true,
        places: 0,
        startedAt: new Date(),
        seenAt: new Date(Date.now() + 3_600_000),
      })
      .returning('id')
      .execute();
    await app.db
      .updateTable('browser_session')
      .set({ status: 'live', hostId: host?.id ?? null })
      .where('id', '=', connectedId)
      .execute();
    return {
      connectedId,
      recorded,
      envId,
      liveId,
      reportedId,
      stoppedId,
      deletedId,
      playedId,
      replayedId,
      reference,
      watchedId,
      linkId,
    };
  },
  {
    listBrowserSessions: ({ recorded }) => ({ query: { repositoryIdentifier: recorded, status: 'provisioning,live' } }),
    recordSessionForPullRequest: ({ recorded }) => ({
      body: { repositoryIdentifier: recorded, prNumber: 118, minutes: 20, startPath: '/lightning/page/home' },
    }),
    listBrowserProviders: ({ recorded }) => ({ query: { repositoryIdentifier: recorded } }),
    getBrowserSession: ({ liveId }) => ({ params: { id: liveId } }),
    reportBrowserSession: ({ reportedId }) => ({
      params: { id: reportedId },
      body: { status: 'live', providerSessionId: 'c2d9', liveViewUrl: 'https://browsers.example.com/c2d9' },
    }),
    deleteBrowserSession: ({ deletedId }) => ({ params: { id: deletedId } }),
    extendBrowserSession: ({ liveId }) => ({ params: { id: liveId }, body: { minutes: 10 } }),
    connectToBrowserSession: ({ connectedId }) => ({ params: { id: connectedId } }),
    stopBrowserSession: ({ stoppedId }) => ({ params: { id: stoppedId } }),
    listBrowserReplays: ({ playedId }) => ({ params: { id: playedId } }),
    getBrowserReplayPlaylist: ({ playedId }) => ({ params: { id: playedId, pageId: '0' } }),
    getBrowserReplaySegment: ({ playedId, reference }) => ({
      params: { id: playedId, pageId: '0' },
      query: { u: reference },
    }),
    listEnvironmentBrowserReplays: ({ envId, playedId }) => ({ params: { envId, sessionId: playedId } }),
    getEnvironmentBrowserReplayPlaylist: ({ envId, replayedId }) => ({
      params: { envId, sessionId: replayedId, pageId: '0' },
    }),
    createLiveLink: ({ watchedId }) => ({ params: { id: watchedId }, body: { mode: 'control', minutes: 30 } }),
    listLiveLinks: ({ watchedId }) => ({ params: { id: watchedId } }),
    revokeLiveLink: ({ watchedId, linkId }) => ({ params: { id: watchedId, linkId } }),
    // Nobody is signed in.
    getLivePage: ({ watchedId }) => ({ params: { id: watchedId }, status: 302 }),
    getLiveState: ({ watchedId }) => ({ params: { id: watchedId }, status: 404 }),
    getLivePictures: ({ watchedId }) => ({ params: { id: watchedId }, status: 404 }),
    getLiveAsset: () => ({ params: { name: 'live.css' } }),
    recordSessionInEnvironment: ({ envId }) => ({
      params: { envId },
      body: { minutes: 30, viewport: { width: 1_600, height: 900 }, allowedHosts: ['help.example.com'] },
    }),
  },
);
