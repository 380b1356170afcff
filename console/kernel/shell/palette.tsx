import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../data/address.ts';
import { useCan } from '../data/me.ts';
import { projectsQuery } from '../data/projects.ts';
import { Dialog } from '../parts/dialog.tsx';
import fields from '../parts/fields.module.css';
import { pagesFor } from './pages.ts';
import { type Destination, useFound } from './palette-sources.ts';
import styles from './palette.module.css';

const SHOWN_MAX = 12;
/** Of pages and projects, where something is typed: the rest is for what the service finds. */
const OWN_MAX = 6;

/** Goes to a page, a project, a candidate, an environment or a work item by a part of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const [{ project }] = useAddress();
  const can = useCan();
  const { data: projects } = useQuery(projectsQuery);
  const { workItem, destinations: found, isAsking } = useFound(text.trim(), project);
  const listId = useId();

  const own: Destination[] = [
    ...pagesFor(can).map(({ to, name }) => ({ to, name, project })),
    ...(projects?.items ?? []).map(({ identifier }) => ({
      to: '.',
      name: identifier,
      hint: t.shell.project,
      project: identifier,
    })),
  ];
  const wanted = text.trim().toLowerCase();
  const named = own.filter(({ name }) => name.toLowerCase().includes(wanted));
  // What is found later comes behind, so that it moves nothing away from under a hand.
  const shown = [
    ...(workItem ? [workItem] : []),
    ...named.slice(0, wanted === '' ? SHOWN_MAX : OWN_MAX),
    ...found,
  ].slice(0, SHOWN_MAX);
  const current = Math.min(at, shown.length - 1);

  const go = (destination: Destination | undefined) => {
    if (!destination) return;
    onClose();
    void navigate({ to: destination.to, search: { project: destination.project } });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(shown[current]);
    else if (event.key === 'ArrowDown') setAt((current + 1) % Math.max(1, shown.length));
    else if (event.key === 'ArrowUp') setAt((current - 1 + shown.length) % Math.max(1, shown.length));
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title={t.shell.go} onClose={onClose}>
      <input
        className={fields.input}
        role="combobox"
        aria-label={t.shell.goHint}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={shown.length > 0 ? `${listId}-${current}` : undefined}
        placeholder={t.shell.goHint}
        value={text}
        maxLength={200}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div id={listId} role="listbox" aria-label={t.shell.go} className={styles.list}>
        {shown.map((destination, index) => (
          <div
            key={`${destination.to} ${destination.name} ${destination.project}`}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === current}
            tabIndex={-1}
            onClick={() => go(destination)}
            onKeyDown={onKey}
          >
            {destination.name}
            {destination.hint && <small>{destination.hint}</small>}
          </div>
        ))}
      </div>
      {shown.length === 0 && !isAsking && <p>{t.shell.goNothing}</p>}
    </Dialog>
  );
}
