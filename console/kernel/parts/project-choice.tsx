import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../data/address.ts';
import { projectsQuery } from '../data/projects.ts';
import { Answered, Empty } from './page.tsx';
import { Button } from './button.tsx';

/** Shows a page of one project: that of the address, or the only one there is; else it asks for one. */
export function OfProject({ children }: { children: (project: string) => ReactNode }) {
  const [{ project }, change] = useAddress();
  const projects = useQuery(projectsQuery);
  const all = projects.data?.items;
  const only = all?.length === 1 ? all[0]?.identifier : undefined;
  useEffect(() => {
    if (!project && only !== undefined) change({ project: only });
  }, [project, only, change]);
  if (project) return children(project);
  return (
    <Answered query={projects}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title={t.shell.noProjects}>
            <p>{t.shell.noProjectsHint}</p>
            <code>{t.shell.noProjectsCommand}</code>
          </Empty>
        ) : (
          <Empty title={t.where.chooseProject}>
            <p>{t.where.chooseProjectHint}</p>
            <p style={{ display: 'flex', flexWrap: 'wrap', gap: '0.5rem', marginTop: '0.75rem' }}>
              {items.map(({ identifier }) => (
                <Button key={identifier} onClick={() => change({ project: identifier })}>
                  {identifier}
                </Button>
              ))}
            </p>
          </Empty>
        )
      }
    </Answered>
  );
}
