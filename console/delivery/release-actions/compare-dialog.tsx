import { useQuery } from '@tanstack/react-query';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { Dialog } from '../../kernel/parts/dialog.tsx';
import { Answered } from '../../kernel/parts/page.tsx';
import { t } from '../../messages/messages.ts';
import { ChangesView } from '../changes/changes-view.tsx';
import { sidesQuery } from '../changes/sides.queries.ts';
import type { ReleaseInProject } from '../gates/gate-rules.ts';

interface CompareDialogProps {
  release: ReleaseInProject & { candidateId: string };
  environmentName: string;
  environmentId: string;
  onClose: () => void;
}

/** A release beside what runs in an environment. */
export function CompareDialog({ release, environmentName, environmentId, onClose }: CompareDialogProps) {
  const { repositoryIdentifier, domain, releaseName, candidateId } = release;
  const compared = useQuery(sidesQuery(repositoryIdentifier, candidateId, environmentId));
  const query = `repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}&left=candidate:${candidateId}&right=environment:${environmentId}&includeChangelog=true`;
  return (
    <Dialog title={t.where.compare.title(releaseName, environmentName)} onClose={onClose} isWide>
      <Answered query={compared}>{(sides) => <ChangesView {...sides} />}</Answered>
      <CopyAs
        method="GET"
        path={`/api/releases/compare?${query}`}
        command={commandOf(
          'release',
          'compare',
          `candidate:${releaseName}`,
          `environment:${environmentName}`,
          '--repository',
          repositoryIdentifier,
          '--domain',
          domain,
          '--changelog',
        )}
      />
    </Dialog>
  );
}
