import type { Area } from '../kernel/area-manifest.ts';
import { PLATFORMS } from '../projects/projects/projects.entities.ts';
import { staleMirrors } from './git/mirror/mirror-attention.queries.ts';
import { requestFetch } from './git/mirror/mirror.queries.ts';
import { remoteFacts } from './git/mirror/remote-facts.queries.ts';
import { remoteWarnings } from './git/mirror/remote-warning-rules.ts';
import { refreshSoon } from './pull-requests/refresh.queries.ts';

/** What the area adds to the service. */
export const code = {
  attention: [staleMirrors],
  hooks: {
    async projectChanged(tx, { id, identifier, remoteUrl }) {
      if (typeof remoteUrl !== 'string') return;
      await requestFetch(tx, id);
      tx.after('mirror', { projectId: id, repositoryIdentifier: identifier });
    },
    async remoteDoubted(tx, project) {
      const facts = await remoteFacts(tx, project);
      return facts ? remoteWarnings(project.defaultBranch, facts) : [];
    },
    // What was not read for want of a credential can be read now.
    async integrationChanged(tx, { kind, projectId }) {
      if (PLATFORMS.some((platform) => platform === kind)) await refreshSoon(tx, projectId);
    },
  },
} satisfies Area;
