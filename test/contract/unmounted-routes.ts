/** Routes of `interface-routes.json` that are not served yet. The list may only shrink. */
export const UNMOUNTED: readonly string[] = [
  'GET /api/mocks/workspaces/{workspace}/scenarios/{name}/export.yaml',
  'GET /api/browser-sessions',
  'POST /api/browser-sessions/record-for-pr',
  'GET /api/browser-sessions/{id}',
  'PATCH /api/browser-sessions/{id}',
  'DELETE /api/browser-sessions/{id}',
  'GET /api/browser-sessions/{id}/replays',
  'GET /api/browser-sessions/{id}/replays/{pageId}',
  'GET /api/browser-sessions/{id}/replays/{pageId}/segment',
  'POST /api/browser-sessions/{id}/extend',
  'POST /api/browser-sessions/{id}/stop',
  'POST /api/environments/{envId}/browser/record',
  'GET /api/environments/{envId}/browser/replay/{sessionId}',
  'GET /api/environments/{envId}/browser/replay/{sessionId}/{pageId}',
];
