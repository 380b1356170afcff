/** Routes of `interface-routes.json` that are not served yet. The list may only shrink. */
export const UNMOUNTED: readonly string[] = [
  'GET /api/browser-sessions/{id}/replays',
  'GET /api/browser-sessions/{id}/replays/{pageId}',
  'GET /api/browser-sessions/{id}/replays/{pageId}/segment',
  'GET /api/environments/{envId}/browser/replay/{sessionId}',
  'GET /api/environments/{envId}/browser/replay/{sessionId}/{pageId}',
];
