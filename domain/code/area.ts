import type { Area } from '../kernel/area-manifest.ts';
import { PLATFORMS } from '../projects/projects/projects.entities.ts';
import { requestFetch } from './git/mirror/mirror.queries.ts';
import { refreshSoon } from './pull-requests/refresh.queries.ts';

/** What the area adds to the service. */
export const code = {
  hooks: {
    async projectChanged(tx, { id, remoteUrl }) {
      if (remoteUrl !== null) await requestFetch(tx, id);
    },
    // What was not read for want of a credential can be read now.
    async integrationChanged(tx, { kind, projectId }) {
      if (PLATFORMS.some((platform) => platform === kind)) await refreshSoon(tx, projectId);
    },
  },
} satisfies Area;
