import { acknowledgeAttention, type AttentionItem } from '@quayside/client';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useAct } from '../../kernel/data/act.ts';
import { client } from '../../kernel/data/client.ts';
import { useCan } from '../../kernel/data/me.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { Button, buttonClass } from '../../kernel/parts/button.tsx';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { TextField } from '../../kernel/parts/fields.tsx';
import { ProblemNote } from '../../kernel/parts/problem-note.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { relativeTime } from '../../kernel/parts/time-rules.ts';
import { Time } from '../../kernel/parts/time.tsx';
import styles from './attention.module.css';
import { bodyOf, isDoneByRequest, isWholeRequest, pageOf } from './attention-rules.ts';

const WAITS: ReadonlySet<AttentionItem['kind']> = new Set(['approval_expiring', 'token_expiring', 'limit_forecast']);

/** One thing that needs attention: why, since when, and what can be done. */
export function AttentionCard({ item }: { item: AttentionItem }) {
  const { kind, title, reason, since, repositoryIdentifier, action, acknowledged } = item;
  const page = pageOf(item);
  const body = bodyOf(item);
  return (
    <article className={styles.card} aria-label={title}>
      <div className={styles.head}>
        <Status tone={WAITS.has(kind) ? 'wait' : 'bad'}>{t.attention.kinds[kind]}</Status>
        <h2>{page ? <PageLink to={page}>{title}</PageLink> : title}</h2>
      </div>
      <p>{reason}</p>
      <p className={styles.soft}>
        <Time at={since} />
        {repositoryIdentifier && <> · {repositoryIdentifier}</>}
        {acknowledged && (
          <>
            {' · '}
            {t.attention.acknowledgedBy(acknowledged.by, relativeTime(Date.parse(acknowledged.at), Date.now()))}
            {acknowledged.comment && <> · {acknowledged.comment}</>}
          </>
        )}
      </p>
      <div className={styles.actions}>
        <MainAction item={item} page={page} />
        {!acknowledged && <Acknowledge item={item} />}
        {isWholeRequest(item) && (
          <CopyAs
            method={action.method}
            path={action.path}
            body={body}
            command={commandOf(
              'api',
              action.method,
              action.path,
              ...(body === undefined ? [] : ['--data', JSON.stringify(body)]),
            )}
          />
        )}
      </div>
    </article>
  );
}

/** What the service names as the thing to do: done here, or on the page where it can be done. */
function MainAction({ item, page }: { item: AttentionItem; page: string | undefined }) {
  const doing = useAct(
    () => {
      const body = bodyOf(item);
      return client.post<{ 200: unknown }>({
        url: item.action.path,
        security: [{ scheme: 'bearer', type: 'http' }],
        ...(body && { body, headers: { 'Content-Type': 'application/json' } }),
      });
    },
    () => announce(t.attention.done(t.attention.does[item.kind])),
  );
  const label = t.attention.does[item.kind];
  if (isDoneByRequest(item))
    return (
      <>
        <Button look="main" isActing={doing.isActing} onClick={() => doing.act(undefined)}>
          {label}
        </Button>
        <ProblemNote problem={doing.problem} />
      </>
    );
  return page ? (
    <PageLink to={page} className={buttonClass('main')}>
      {item.action.isAllowed ? label : t.attention.open}
    </PageLink>
  ) : null;
}

function Acknowledge({ item: { id, title } }: { item: AttentionItem }) {
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  const [comment, setComment] = useState('');
  const acting = useAct(
    (body: { comment?: string }) => acknowledgeAttention({ client, path: { id }, body }),
    () => {
      setOpen(false);
      announce(t.attention.done(t.attention.acknowledge));
    },
  );
  if (!can('acknowledgeAttention')) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t.attention.acknowledge}</Button>
      {isOpen && (
        <ConfirmDialog
          title={`${t.attention.acknowledge}: ${title}`}
          label={t.attention.acknowledge}
          acting={acting}
          input={() => (comment === '' ? {} : { comment })}
          onClose={() => setOpen(false)}
        >
          <p>{t.attention.acknowledgeHint}</p>
          <TextField label={t.attention.comment} value={comment} onValue={setComment} maxLength={1_000} />
        </ConfirmDialog>
      )}
    </>
  );
}
