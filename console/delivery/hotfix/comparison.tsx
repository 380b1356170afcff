import type { CompareSidesResponse } from '@quayside/client';
import { t } from '../../messages/messages.ts';
import { CopyText } from '../../kernel/parts/copy.tsx';
import { Section } from '../../kernel/parts/page.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Table } from '../../kernel/parts/table.tsx';
import { CommitTable } from './commit-table.tsx';
import { cherryPickOf, type Hotfix, hotfixOf } from './hotfix-rules.ts';
import styles from './hotfix.module.css';

const TONES = { lacks: 'bad', hasAll: 'good', unknown: 'wait' } as const;

function sentenceOf(hotfix: Hotfix, release: string, environment: string): string {
  const { said, commits } = t.hotfix;
  const { verdict, carry, lostWorkItems, packages } = hotfix;
  if (verdict === 'hasAll') return said.hasAll(release, environment);
  if (verdict === 'unknown') return said.isUnknown(release, environment);
  if (carry.total === 0)
    return said.goesBack(
      release,
      environment,
      packages.filter(({ goesBack }) => goesBack).length,
      lostWorkItems.length,
    );
  return said.lacks(release, environment, commits(carry.total, carry.isCut), lostWorkItems.length);
}

/** Both sides of a comparison, and what is to be carried back. */
export function Comparison({ compared }: { compared: CompareSidesResponse }) {
  const [release, environment] = [compared.left.name, compared.right.name];
  const hotfix = hotfixOf(compared);
  const { verdict, carry, brings, lostWorkItems, packages, unknownPackages } = hotfix;
  const command = cherryPickOf(carry);
  return (
    <div className={styles.page}>
      <Note tone={TONES[verdict]}>
        <h2>{sentenceOf(hotfix, release, environment)}</h2>
        {unknownPackages.length > 0 && <p>{t.hotfix.unknown(unknownPackages)}</p>}
        <Staleness compared={compared} />
      </Note>
      <Section
        title={t.hotfix.carry(environment)}
        actions={command !== undefined && <CopyText text={command} label={t.hotfix.copyCommand} />}
      >
        {command !== undefined && <p className={styles.soft}>{t.hotfix.carryHint}</p>}
        <CommitTable caption={t.hotfix.carry(environment)} side={carry} isAllKnown={unknownPackages.length === 0} />
      </Section>
      {lostWorkItems.length > 0 && (
        <Section title={t.hotfix.lost}>
          <ul className={styles.keys}>
            {lostWorkItems.map(({ key }) => (
              <li key={key}>
                <PageLink to={`/work-items/${encodeURIComponent(key)}`}>{key}</PageLink>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {packages.length > 0 && (
        <Section title={t.hotfix.differ}>
          <Table
            caption={t.hotfix.differ}
            columns={[
              { name: t.hotfix.package, cell: ({ name }) => name },
              { name: t.hotfix.versionIn(environment), cell: ({ installed }) => installed ?? t.parts.none },
              {
                name: t.hotfix.versionIn(release),
                cell: ({ offered, goesBack }) => (
                  <>
                    {offered} {goesBack && <Status tone="bad">{t.hotfix.goesBack}</Status>}
                  </>
                ),
              },
            ]}
            rows={packages}
            keyOf={({ name }) => name}
          />
        </Section>
      )}
      <Section title={t.hotfix.brings(release)}>
        <CommitTable caption={t.hotfix.brings(release)} side={brings} isAllKnown={unknownPackages.length === 0} />
      </Section>
      <NotCarried onlyRight={compared.onlyRight} />
    </div>
  );
}

function Staleness({ compared: { changelog } }: { compared: CompareSidesResponse }) {
  if (!changelog) return null;
  const { error, isStale } = changelog.repository;
  if (error !== null) return <p>{t.hotfix.fetched(error)}</p>;
  return isStale ? <p>{t.hotfix.stale}</p> : null;
}

const NotCarried = ({ onlyRight }: Pick<CompareSidesResponse, 'onlyRight'>) =>
  onlyRight.length === 0 ? null : (
    <details>
      <summary>{t.hotfix.notCarried(onlyRight.length)}</summary>
      <p className={styles.soft}>{t.hotfix.notCarriedHint}</p>
      <ul>
        {onlyRight.map(({ name, version }) => (
          <li key={name}>
            {name} {version}
          </li>
        ))}
      </ul>
    </details>
  );
