import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../kernel/parts/dialog.tsx';
import { SelectField } from '../../kernel/parts/fields.tsx';
import { Answered } from '../../kernel/parts/page.tsx';
import { t } from '../../messages/messages.ts';
import type { ReleaseInProject } from './gate-rules.ts';
import { environmentsQuery } from './gates.queries.ts';
import { StartForm } from './start-form.tsx';

interface CanItGoProps {
  release: ReleaseInProject;
  /** Undefined: the person chooses it first. */
  environmentName?: string | undefined;
  onClose: () => void;
}

/** Says whether a release can go to an environment now, gate by gate, and takes it there. */
export function CanItGoDialog({ release, environmentName: given, onClose }: CanItGoProps) {
  const [chosen, choose] = useState(given ?? '');
  const environments = useQuery(environmentsQuery(release.repositoryIdentifier));
  const title = chosen === '' ? t.gates.choose : t.gates.title(release.releaseName, chosen);
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <Answered query={environments} rows={7}>
        {(all) => {
          const names = all.filter(({ isActive }) => isActive).map(({ name }) => name);
          const environment = all.find(({ name }) => name === chosen);
          return (
            <>
              <SelectField
                label={t.gates.environment}
                value={chosen}
                onValue={choose}
                options={(chosen === '' ? [''] : []).concat(names).map((name) => ({
                  value: name,
                  label: name || t.gates.choose,
                }))}
              />
              {chosen !== '' && (
                <StartForm
                  key={chosen}
                  release={release}
                  environmentName={chosen}
                  environment={environment}
                  onDone={onClose}
                />
              )}
            </>
          );
        }}
      </Answered>
    </Dialog>
  );
}
