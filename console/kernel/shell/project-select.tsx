import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { t } from '../../messages/messages.ts';
import { type Address, useAddress } from '../data/address.ts';
import { projectsQuery } from '../data/projects.ts';
import { listOfThing } from './project-rules.ts';
import styles from './shell.module.css';

/** Narrows all pages to a project; kept in the address. Other filters are of the project before, and go. */
export function ProjectSelect() {
  const [{ project = '' }] = useAddress();
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { data } = useQuery(projectsQuery);
  const identifiers = data?.items.map(({ identifier }) => identifier) ?? [];
  const all = project === '' || identifiers.includes(project) ? identifiers : [project, ...identifiers];
  const choose = (chosen: string) => {
    const list = listOfThing(path);
    const search: Address = { project: chosen || undefined };
    void navigate(list === undefined ? { to: '.', search, replace: true } : { to: list, search });
  };
  return (
    <select
      className={styles.project}
      aria-label={t.shell.project}
      value={project}
      onChange={({ target }) => choose(target.value)}
    >
      <option value="">{t.shell.allProjects}</option>
      {all.map((identifier) => (
        <option key={identifier} value={identifier}>
          {identifier}
        </option>
      ))}
    </select>
  );
}
