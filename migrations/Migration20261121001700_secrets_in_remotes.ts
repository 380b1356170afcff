import { Migration } from '@mikro-orm/migrations';

/**
 * User information in https remotes, often a token, is removed; the remote stays. The organization in clone addresses of
 * Azure DevOps is no secret.
 */
export class SecretsInRemotes extends Migration {
  override up(): void {
    this.addSql(String.raw`
      update project set remote_url = regexp_replace(remote_url, '^(https?://)[^/]*@', '\1')
      where remote_url ~ '^https?://[^/]*@' and remote_url !~* '^https://([a-z0-9._-]+)@dev\.azure\.com/\1/'`);
  }
}
