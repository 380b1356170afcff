import { Migration } from '@mikro-orm/migrations';

/** A candidate that was finalized along with a newer one names it. */
export class SupersededCandidates extends Migration {
  override up(): void {
    this.addSql('alter table release_candidate add column superseded_by text');
  }
}
