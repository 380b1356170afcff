import type { AttentionItem } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../../kernel/data/address.ts';
import { Checkbox, SelectField } from '../../kernel/parts/fields.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Answered, Empty, Filters, Page, Section } from '../../kernel/parts/page.tsx';
import { RunList } from '../../delivery/runs/run-list.tsx';
import styles from './attention.module.css';
import { AttentionCard } from './attention-card.tsx';
import { emptinessOf } from './attention-rules.ts';
import { attentionQuery, recentRunsQuery } from './attention.queries.ts';

/** What should I look at? Beside it, what has happened. */
export function AttentionPage() {
  const [{ project, kind, all }, change] = useAddress();
  const isAll = all === 'true';
  const items = useQuery(attentionQuery({ project, kind, isAll }));
  const recent = useQuery(recentRunsQuery(project));
  const { kinds } = t.attention;
  return (
    <Page title={t.attention.title} asked={[items, recent]}>
      <div className={styles.columns}>
        <div>
          <Filters>
            <SelectField
              label={t.attention.kind}
              value={kind ?? ''}
              onValue={(value) => change({ kind: value || undefined })}
              options={[
                { value: '', label: t.attention.all },
                ...Object.entries(kinds).map(([value, label]) => ({ value, label })),
              ]}
            />
            <Checkbox
              label={t.attention.acknowledged}
              isChecked={isAll}
              onChecked={(isChecked) => change({ all: isChecked ? 'true' : undefined })}
            />
          </Filters>
          <Answered query={items}>
            {({ items: shown, total, incompleteKinds }) => (
              <>
                {incompleteKinds.length > 0 && (
                  <Note>{t.attention.incomplete(incompleteKinds.map((each) => kinds[each]).join(', '))}</Note>
                )}
                {shown.length === 0 && <NothingHere kind={emptinessOf({ project, kind }, incompleteKinds)} />}
                <ul className={styles.list}>
                  {shown.map((item: AttentionItem) => (
                    <li key={item.id}>
                      <AttentionCard item={item} />
                    </li>
                  ))}
                </ul>
                {total > shown.length && <p>{t.attention.shown(shown.length, total)}</p>}
              </>
            )}
          </Answered>
        </div>
        <Section title={t.attention.recent}>
          <Answered query={recent}>
            {({ runs }) => (runs.length === 0 ? <p>{t.attention.recentNone}</p> : <RunList runs={runs} />)}
          </Answered>
        </Section>
      </div>
    </Page>
  );
}

function NothingHere({ kind }: { kind: ReturnType<typeof emptinessOf> }) {
  if (kind === 'unknown') return null;
  if (kind === 'noMatch') return <Empty title={t.attention.noMatch}>{t.attention.noMatchHint}</Empty>;
  return <Empty title={t.attention.empty}>{t.attention.emptyHint}</Empty>;
}
