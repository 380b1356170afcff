import { dataOf, ProblemError, signOut } from '@quayside/client';
import { useState } from 'react';
import { t } from '../../messages/messages.ts';
import { BASE_PATH, client, CONSOLE_PATH } from '../data/client.ts';
import { useMe } from '../data/me.ts';
import { signInAddress, tellSignedOut } from '../data/session.ts';
import { announce } from '../parts/announce.tsx';
import { Menu } from '../parts/menu.tsx';
import { chooseTheme, chosenTheme, THEMES } from './theme.ts';

/** Who is signed in, other tenants, the theme, and the way out. */
export function Account() {
  const { email, role, tenant, tenants } = useMe();
  const [theme, setTheme] = useState(chosenTheme);
  const leave = async () => {
    try {
      await dataOf(signOut({ client, body: {} }));
    } catch (error) {
      const problem = error instanceof ProblemError ? error.problem : undefined;
      // Who is not signed in any more has nothing to end.
      if (problem?.status !== 401) return announce(t.shell.signOutFailed(problem?.detail ?? String(error)));
    }
    tellSignedOut();
    location.assign(signInAddress(CONSOLE_PATH));
  };
  const others = tenants.filter((slug) => slug !== tenant.slug);
  return (
    <Menu label={initials(email)} name={t.shell.account} look="quiet">
      <p>{t.shell.signedInAs(email, tenant.slug)}</p>
      <p>{t.shell.role(role)}</p>
      {others.map((slug) => (
        <a key={slug} href={signInAddress(CONSOLE_PATH, { tenant: slug })}>
          {t.shell.tenants}: {slug}
        </a>
      ))}
      {THEMES.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === theme}
          onClick={() => {
            chooseTheme(each);
            setTheme(each);
          }}
        >
          {t.shell.theme}: {t.shell.themes[each]} {each === theme && '✓'}
        </button>
      ))}
      <a href={`${BASE_PATH}/docs`}>{t.shell.reference}</a>
      <button type="button" onClick={() => void leave()}>
        {t.shell.signOut}
      </button>
    </Menu>
  );
}

const initials = (email: string): string =>
  email
    .replace(/@.*/, '')
    .split(/[._-]/)
    .slice(0, 2)
    .map((part) => (Array.from(part)[0] ?? '').toUpperCase())
    .join('');
