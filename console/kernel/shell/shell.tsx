import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../data/address.ts';
import { keepLive } from '../data/live-queries.ts';
import { useCan, useMe, whoIs } from '../data/me.ts';
import { Announcements } from '../parts/announce.tsx';
import { PageLink } from '../parts/page-link.tsx';
import { Account } from './account.tsx';
import { Overlays } from './overlays.tsx';
import { pagesFor } from './pages.ts';
import { ProjectSelect } from './project-select.tsx';
import { SessionDialog } from './session-dialog.tsx';
import styles from './shell.module.css';

/** What stands around every page. */
export function Shell() {
  const queries = useQueryClient();
  const who = whoIs(useMe());
  useEffect(() => {
    const ending = new AbortController();
    keepLive(queries, who, ending.signal);
    return () => ending.abort();
  }, [queries, who]);
  return (
    <div className={styles.shell}>
      <a href="#content" className={styles.skip}>
        {t.shell.skip}
      </a>
      <header className={styles.bar}>
        <PageLink to="/" className={styles.brand}>
          {t.shell.product}
        </PageLink>
        <Navigation />
        <ProjectSelect />
        <Overlays />
        <Account />
      </header>
      <Content />
      <SessionDialog />
      <Announcements />
    </div>
  );
}

function Navigation() {
  const can = useCan();
  const [{ project }] = useAddress();
  return (
    <nav aria-label={t.shell.navigation} className={styles.navigation}>
      {pagesFor(can).map(({ to, name, Badge }) => (
        <Link
          key={to}
          to={to}
          search={{ project }}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {name}
          {Badge && <Badge />}
        </Link>
      ))}
    </nav>
  );
}

/** A page that one comes to has the focus, so that its heading is read and keys move it. */
function Content() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [path]);
  return (
    <main id="content" ref={main} tabIndex={-1} className={styles.content}>
      <Outlet />
    </main>
  );
}
