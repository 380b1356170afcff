import { reportReleaseEvent } from '@quayside/client';
import { useState } from 'react';
import { useAct } from '../../kernel/data/act.ts';
import { client } from '../../kernel/data/client.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { Checkbox, errorAt, SelectField } from '../../kernel/parts/fields.tsx';
import { t } from '../../messages/messages.ts';
import type { ReleaseInProject } from '../gates/gate-rules.ts';

const STATUSES = ['Success', 'Failed', 'Partial', 'Cancelled'] as const;
type DeploymentStatus = (typeof STATUSES)[number];

interface ReportDialogProps {
  release: ReleaseInProject & { packages: Readonly<Record<string, string>> };
  environmentName: string;
  onClose: () => void;
}

/** Records a deployment that was done by other means. */
export function ReportDialog({ release, environmentName, onClose }: ReportDialogProps) {
  const { repositoryIdentifier, domain, releaseName, packages } = release;
  const [deploymentStatus, setStatus] = useState<DeploymentStatus>('Success');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const installed = Object.entries(packages).filter(([name]) => !left.has(name));
  const isPart = deploymentStatus === 'Partial';
  const body = {
    repositoryIdentifier,
    domain,
    releaseName,
    environmentName,
    deploymentStatus,
    ...(isPart && { packages: Object.fromEntries(installed) }),
  };
  const acting = useAct(
    () => reportReleaseEvent({ client, body }),
    () => {
      onClose();
      announce(t.where.report.done(releaseName));
    },
  );
  return (
    <ConfirmDialog
      title={t.where.report.title(releaseName, environmentName)}
      label={t.where.report.label}
      acting={acting}
      input={() => true}
      onClose={onClose}
    >
      <p>{t.where.report.hint}</p>
      <SelectField
        label={t.where.report.status}
        value={deploymentStatus}
        onValue={(value) => setStatus(STATUSES.find((each) => each === value) ?? 'Success')}
        options={STATUSES.map((value) => ({ value, label: t.where.report.statuses[value] }))}
        error={errorAt(acting.problem, '#/body/deploymentStatus')}
      />
      {isPart && (
        <fieldset>
          <legend>{t.where.report.packages}</legend>
          {Object.entries(packages).map(([name, version]) => (
            <div key={name}>
              <Checkbox
                label={`${name} ${version}`}
                isChecked={!left.has(name)}
                onChecked={(isChecked) =>
                  setLeft(
                    (before) => new Set(isChecked ? [...before].filter((each) => each !== name) : [...before, name]),
                  )
                }
              />
            </div>
          ))}
        </fieldset>
      )}
      <CopyAs
        method="POST"
        path="/api/release-candidates/release-event"
        body={body}
        command={commandOf(
          'deployment',
          'report',
          releaseName,
          '--repository',
          repositoryIdentifier,
          '--domain',
          domain,
          '--environment',
          environmentName,
          '--status',
          deploymentStatus,
          ...(isPart ? installed.flatMap(([name, version]) => ['--package', `${name}=${version}`]) : []),
        )}
      />
    </ConfirmDialog>
  );
}
