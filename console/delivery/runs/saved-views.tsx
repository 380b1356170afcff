import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../../kernel/data/address.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { Button } from '../../kernel/parts/button.tsx';
import { Dialog, DialogActions } from '../../kernel/parts/dialog.tsx';
import { TextField } from '../../kernel/parts/fields.tsx';
import { viewCountQuery } from './runs.queries.ts';
import styles from './runs.module.css';
import { useSavedViews } from './kept-views.ts';
import { filtersIn, type SavedView, VIEW_NAME_MAX, VIEWS_MAX, withView } from './saved-views-rules.ts';

/** Filters that were kept under names, each with how many runs it has now. */
export function SavedViews() {
  const [views, keep] = useSavedViews();
  const [address] = useAddress();
  const [isOpen, setOpen] = useState(false);
  const filters = filtersIn(address);
  const save = (name: string) => {
    setOpen(false);
    announce(keep(withView(views, { name, search: filters })) ? t.runs.viewSaved(name) : t.runs.notKept);
  };
  const hasFilters = Object.keys(filters).length > 0;
  if (views.length === 0 && !hasFilters) return null;
  return (
    <nav aria-label={t.runs.saved} className={styles.views}>
      <h2>{t.runs.saved}</h2>
      {views.map((view) => (
        <View key={view.name} view={view} onRemove={() => keep(views.filter(({ name }) => name !== view.name))} />
      ))}
      {hasFilters && <Button onClick={() => setOpen(true)}>{t.runs.save}</Button>}
      {isOpen && <SaveDialog views={views} onSave={save} onClose={() => setOpen(false)} />}
    </nav>
  );
}

function View({ view: { name, search }, onRemove }: { view: SavedView; onRemove: () => void }) {
  const { data } = useQuery(viewCountQuery(search));
  return (
    <span className={styles.view}>
      <Link to="." search={search} activeOptions={{ exact: true, includeSearch: true }}>
        {name} {data && <strong>{data.totalCountIsExact ? data.totalCount : `${data.totalCount}+`}</strong>}
      </Link>
      <Button look="quiet" aria-label={t.runs.removeView(name)} onClick={onRemove}>
        ✕
      </Button>
    </span>
  );
}

interface SaveDialogProps {
  views: readonly SavedView[];
  onSave: (name: string) => void;
  onClose: () => void;
}

function SaveDialog({ views, onSave, onClose }: SaveDialogProps) {
  const [name, setName] = useState('');
  const isFull = views.length >= VIEWS_MAX && views.every((each) => each.name !== name.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '' && !isFull) onSave(name.trim());
  };
  return (
    <Dialog title={t.runs.save} onClose={onClose}>
      <form onSubmit={submit} className={styles.form}>
        <TextField
          label={t.runs.viewName}
          hint={t.runs.saveHint}
          error={isFull ? t.runs.viewFull(VIEWS_MAX) : undefined}
          value={name}
          onValue={setName}
          maxLength={VIEW_NAME_MAX}
          required
        />
        <DialogActions>
          <Button onClick={onClose}>{t.parts.cancel}</Button>
          <Button type="submit" look="main">
            {t.runs.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
