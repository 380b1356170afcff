import type { ApprovalWithVotes } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../../kernel/data/address.ts';
import { environmentNamesQuery } from '../../kernel/data/environment-names.ts';
import { FilterField } from '../../kernel/parts/filter-field.tsx';
import { Answered, Empty, Filters, Page } from '../../kernel/parts/page.tsx';
import { SelectField } from '../../kernel/parts/fields.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { TabLinks } from '../../kernel/parts/tab-links.tsx';
import { InboxCard } from './inbox-card.tsx';
import { DECIDED, type Tab, tabOf, TABS } from './inbox-rules.ts';
import { decidedApprovalsQuery, openApprovalsQuery, waitingCountQuery } from './inbox.queries.ts';
import styles from './inbox.module.css';
import { WaitingForMe } from './waiting-for-me.tsx';

/** What waits for me? Also: what waits for others, and what has been decided. */
export function InboxPage() {
  const [{ project, environment, tab: given, status }] = useAddress();
  const tab = tabOf(given);
  const filters = { project, environment };
  const open = useQuery({ ...openApprovalsQuery(filters, tab === 'mine'), enabled: tab !== 'decided' });
  const decided = useQuery({ ...decidedApprovalsQuery(filters, status), enabled: tab === 'decided' });
  const shown = tab === 'decided' ? decided : open;
  return (
    <Page title={t.inbox.title} asked={[shown]}>
      <InboxTabs />
      <InboxFilters tab={tab} />
      <Answered query={shown}>
        {({ items, isCut }) => (
          <>
            {items.length === 0 && (
              <Empty title={t.inbox.empty[tab]}>
                {project || environment ? t.inbox.emptyFiltered : t.inbox.emptyHint[tab]}
              </Empty>
            )}
            {tab === 'mine' ? (
              <WaitingForMe key={JSON.stringify(filters)} approvals={items} />
            ) : (
              <Approvals approvals={items} />
            )}
            {isCut && <Note>{t.inbox.cut(items.length)}</Note>}
          </>
        )}
      </Answered>
    </Page>
  );
}

function InboxTabs() {
  const [address] = useAddress();
  const { data: waiting } = useQuery(waitingCountQuery);
  return (
    <TabLinks
      name={t.inbox.tabsName}
      tabs={TABS.map((tab) => ({
        label: t.inbox.tabs[tab],
        count: tab === 'mine' ? waiting?.total : undefined,
        search: { ...address, tab: tab === 'mine' ? undefined : tab, status: undefined },
      }))}
    />
  );
}

function InboxFilters({ tab }: { tab: Tab }) {
  const [{ project, environment = '', status = '' }, change] = useAddress();
  const { data: environments = [] } = useQuery(environmentNamesQuery(project));
  return (
    <Filters>
      <FilterField
        label={t.inbox.environment}
        value={environment}
        onValue={(value) => change({ environment: value })}
        offered={[...new Set(environments.map(({ name }) => name))]}
      />
      {tab === 'decided' && (
        <SelectField
          label={t.inbox.status}
          value={status}
          onValue={(value) => change({ status: value || undefined })}
          options={[
            { value: '', label: t.parts.all },
            ...DECIDED.map((value) => ({ value, label: t.inbox.statuses[value] })),
          ]}
        />
      )}
    </Filters>
  );
}

const Approvals = ({ approvals }: { approvals: readonly ApprovalWithVotes[] }) => (
  <ul className={styles.list}>
    {approvals.map((approval) => (
      <li key={approval.id}>
        <InboxCard approval={approval} saysWhyNot />
      </li>
    ))}
  </ul>
);
