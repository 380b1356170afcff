import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../data/address.ts';
import { projectsQuery } from '../data/projects.ts';
import styles from './shell.module.css';

/** Narrows all pages to a project; kept in the address. */
export function ProjectSelect() {
  const [{ project = '' }, change] = useAddress();
  const { data } = useQuery(projectsQuery);
  const identifiers = data?.items.map(({ identifier }) => identifier) ?? [];
  const all = project === '' || identifiers.includes(project) ? identifiers : [project, ...identifiers];
  return (
    <select
      className={styles.project}
      aria-label={t.shell.project}
      value={project}
      onChange={({ target }) => change({ project: target.value || undefined })}
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
