import { Migration } from '@mikro-orm/migrations';
import { openToSystem } from './fences.ts';

/** What the generation of a report is made of, as long as it is under way, and what tells whether another is needed. */
export class AiReportGeneration extends Migration {
  override up(): void {
    this.addSql(`
      alter table ai_report
        add column prompt_version integer,
        add column facts_digest text,
        add column fact_count integer,
        add column dropped_claims integer,
        add column facts jsonb,
        add column answer text,
        add column findings jsonb;
      ${openToSystem('ai_report', ['select'])}`);
  }
}
