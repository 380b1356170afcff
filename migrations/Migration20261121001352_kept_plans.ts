import { Migration } from '@mikro-orm/migrations';

/** These functions are asked for one of a few things by its index: a plan for each call costs more than its answer. */
export class KeptPlans extends Migration {
  override up(): void {
    for (const found of [
      'auth_sessions(uuid[])',
      'auth_cookie_sessions(text[])',
      'auth_people(text[], text)',
      'document_matches(text, jsonb, int)',
    ]) {
      this.addSql(`alter function ${found} set plan_cache_mode = force_generic_plan`);
    }
  }
}
