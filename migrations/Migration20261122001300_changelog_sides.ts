import { Migration } from '@mikro-orm/migrations';

/** Changelogs have two sides, attribute through merges, and say why something is missing; packages have an order. */
export class ChangelogSides extends Migration {
  override up(): void {
    this.addSql(`
      alter table git_package add column dependencies text[] not null default '{}';
      alter table git_mirror
        add column completed_at timestamptz(6),
        add column attributed_branch text,
        add column message_rules integer not null default 0;
      update git_mirror set completed_at = attempted_at, revision = revision + 1, work_items_epoch = work_items_epoch + 1`);
    // They were computed without the merges that brought commits in.
    this.addSql('delete from git_range');
  }
}
