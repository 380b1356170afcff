import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useProject } from '../../kernel/data/address.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { TextField } from '../../kernel/parts/fields.tsx';
import { Page } from '../../kernel/parts/page.tsx';
import styles from './work-item.module.css';

/** Asks for a key. */
export function WorkItemsPage() {
  const navigate = useNavigate();
  const project = useProject();
  const [key, setKey] = useState('');
  const find = (event: FormEvent) => {
    event.preventDefault();
    const wanted = key.trim();
    if (wanted !== '') void navigate({ to: '/work-items/$key', params: { key: wanted }, search: { project } });
  };
  return (
    <Page title={t.workItems.title} asked={[]}>
      <form onSubmit={find} className={styles.search} role="search">
        <p>{t.workItems.searchHint}</p>
        <TextField
          label={t.workItems.key}
          hint={t.workItems.keyHint}
          value={key}
          onValue={setKey}
          maxLength={255}
          autoComplete="off"
          required
        />
        <div>
          <Button type="submit" look="main">
            {t.workItems.find}
          </Button>
        </div>
      </form>
    </Page>
  );
}
