import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../data/address.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { PAGES } from './pages.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: component }) => ({ default: component })));

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** What keys open over any page: the palette, and the list of keys. */
export function Overlays() {
  const [open, setOpen] = useState<'palette' | 'keys'>();
  const navigate = useNavigate();
  const [{ project }] = useAddress();
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
        const page = PAGES.find(({ key }) => key === event.key);
        if (page) void navigate({ to: page.to, search: { project } });
        began = 0;
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, project]);
  const close = () => setOpen(undefined);
  return (
    <>
      <Button onClick={() => setOpen('palette')} aria-keyshortcuts="Control+K">
        {t.shell.go} <kbd>Ctrl K</kbd>
      </Button>
      {open === 'palette' && (
        <Suspense>
          <Palette onClose={close} />
        </Suspense>
      )}
      {open === 'keys' && (
        <Dialog title={t.shell.keys} onClose={close}>
          <dl>
            {t.shell.keysList.map(([key, what]) => (
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
