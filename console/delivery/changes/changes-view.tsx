import type { Changelog, PackageComparison } from '@quayside/client';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Table } from '../../kernel/parts/table.tsx';
import { t } from '../../messages/messages.ts';
import { type ChangedPackage, changedPackages } from './changes-rules.ts';
import { ChangelogView, Part } from './changelog-view.tsx';

interface ChangesViewProps {
  comparison: PackageComparison;
  onlyRight?: readonly { name: string; version: string }[];
  changelog: Changelog | null;
}

/** What is another one on two sides: packages, and the work items and commits that come and go. */
export function ChangesView({ comparison, onlyRight = [], changelog }: ChangesViewProps) {
  const rows = changedPackages(comparison, onlyRight);
  const same = comparison.unchanged.length;
  return (
    <>
      <Part title={t.changes.packages}>
        {rows.length === 0 ? (
          <p>{t.changes.same}</p>
        ) : (
          <Table<ChangedPackage>
            caption={t.changes.packages}
            keyOf={({ name }) => name}
            rows={rows}
            columns={[
              { name: t.changes.package, cell: ({ name }) => name },
              { name: t.changes.from, cell: ({ from }) => from ?? t.parts.none },
              { name: t.changes.to, cell: ({ to }) => to ?? t.parts.none },
              {
                name: t.changes.what,
                cell: ({ kind, tone }) => <Status tone={tone}>{t.changes[kind]}</Status>,
              },
            ]}
          />
        )}
        {same > 0 && rows.length > 0 && <p>{t.changes.unchanged(same)}</p>}
      </Part>
      {changelog ? <ChangelogView changelog={changelog} /> : rows.length > 0 && <Note>{t.changes.noChangelog}</Note>}
      {changelog?.repository.isStale && changelog.missingChangelogPackages.length === 0 && (
        <Note>{changelog.repository.error ?? t.changes.stale}</Note>
      )}
    </>
  );
}
