import { can } from '@quayside/client';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../data/address.ts';
import { useMe } from '../data/me.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { LazyBoundary } from './lazy-boundary.tsx';
import { pagesFor, type ShownPage } from './pages.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: component }) => ({ default: component })));

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const keysOf = (pages: readonly ShownPage[]): readonly (readonly [string, string])[] => [
  ['Ctrl K', t.shell.keysGo],
  ['?', t.shell.keysShow],
  ...pages.filter(({ key }) => key !== undefined).map(({ key, name }) => [`g ${key}`, name] as const),
  ['Esc', t.shell.keysClose],
];

/** What keys open over any page: the palette, and the list of keys. */
export function Overlays() {
  const [open, setOpen] = useState<'palette' | 'keys'>();
  const navigate = useNavigate();
  const [{ project }] = useAddress();
  const { role } = useMe();
  const pages = useMemo(() => pagesFor((operation) => can(operation, role)), [role]);
  useEffect(() => {
    let began = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        setOpen('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector('dialog[open]'))
        return;
      if (event.key === '?') setOpen('keys');
      else if (event.key === 'g') began = Date.now();
      else if (Date.now() - began < 1_500) {
        const page = pages.find(({ key }) => key === event.key);
        if (page) void navigate({ to: page.to, search: { project } });
        began = 0;
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, project, pages]);
  const close = () => setOpen(undefined);
  return (
    <>
      <Button onClick={() => setOpen('palette')} aria-keyshortcuts="Control+K">
        {t.shell.go} <kbd>Ctrl K</kbd>
      </Button>
      {open === 'palette' && (
        <LazyBoundary onClose={close}>
          <Suspense>
            <Palette onClose={close} />
          </Suspense>
        </LazyBoundary>
      )}
      {open === 'keys' && (
        <Dialog title={t.shell.keys} onClose={close}>
          <dl>
            {keysOf(pages).map(([key, what]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
}
