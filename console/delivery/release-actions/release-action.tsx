import type { ReleaseHold } from '@quayside/client';
import { CanItGoDialog } from '../gates/can-it-go-dialog.tsx';
import type { ReleaseInProject } from '../gates/gate-rules.ts';
import { AbortDialog } from './abort-dialog.tsx';
import { CompareDialog } from './compare-dialog.tsx';
import { HoldDialog, ReleaseHoldDialog } from './hold-dialogs.tsx';
import { LockDialog } from './lock-dialog.tsx';
import { ReportDialog } from './report-dialog.tsx';

interface AtEnvironment {
  environmentName: string;
  environmentId: string;
}

/** Something to be done with a release. */
export type ReleaseAction =
  | ({ kind: 'request' } & Partial<AtEnvironment>)
  | ({ kind: 'report' | 'lock' | 'compare' } & AtEnvironment)
  | { kind: 'hold' | 'releaseHold' | 'abort' };

interface ReleaseActionProps {
  action: ReleaseAction;
  release: ReleaseInProject & {
    candidateId: string;
    packages: Readonly<Record<string, string>>;
    hold: ReleaseHold | null;
  };
  onClose: () => void;
}

/** The dialog by which an action is done. */
export function ReleaseActionDialog({ action, release, onClose }: ReleaseActionProps) {
  switch (action.kind) {
    case 'request':
      return <CanItGoDialog release={release} environmentName={action.environmentName} onClose={onClose} />;
    case 'report':
      return <ReportDialog release={release} environmentName={action.environmentName} onClose={onClose} />;
    case 'lock':
      return <LockDialog {...action} repositoryIdentifier={release.repositoryIdentifier} onClose={onClose} />;
    case 'compare':
      return <CompareDialog release={release} {...action} onClose={onClose} />;
    case 'hold':
      return <HoldDialog release={release} onClose={onClose} />;
    case 'releaseHold':
      return <ReleaseHoldDialog release={release} onClose={onClose} />;
    case 'abort':
      return <AbortDialog release={release} onClose={onClose} />;
  }
}
