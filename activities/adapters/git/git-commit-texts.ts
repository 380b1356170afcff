import type { CommitText } from '../../../domain/code/git/mirror/git-mirrors.port.ts';

const FIELDS = ['%H', '%an', '%ae', '%at', '%ct', '%s', '%b'];
/** What git prints of a commit, with NUL between members and commits. */
export const COMMIT_FORMAT = `--format=${FIELDS.join('%x00')}`;

/** Reads commits that git prints by `COMMIT_FORMAT`. */
export class CommitTexts {
  readonly found: CommitText[] = [];
  #fields: string[] = [];

  /** @param token what came up to the next NUL. */
  add(token: string): void {
    this.#fields.push(token);
    if (this.#fields.length < FIELDS.length) return;
    const [sha = '', authorName = '', authorEmail = '', authoredAt, committedAt, subject = '', body = ''] =
      this.#fields;
    this.#fields = [];
    this.found.push({
      sha,
      authorName,
      authorEmail,
      authoredAt: Number(authoredAt),
      committedAt: Number(committedAt),
      subject,
      body: body.trimEnd(),
    });
  }
}
