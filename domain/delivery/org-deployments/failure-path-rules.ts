/** A file of a deployment that failed. */
interface FailedFile {
  /** In the archive: `classes/Invoice.cls`. */
  file: string;
  /** `ApexClass Invoice`, `CustomField Account.Rating__c`. */
  subject: string | null;
}

/** A file of the repository that a failure is about, and whether lines of the archive are those of the file. */
interface FailedPath {
  path: string;
  hasLines: boolean;
}

/** Finds the files of a repository that failures are about, looking at each of its paths once. */
export class FailedPaths {
  readonly #wanted: { failed: FailedFile; ends: string[]; part: RegExp | undefined; found: FailedPath[] }[];

  constructor(failed: readonly FailedFile[]) {
    this.#wanted = failed.map((each) => ({
      failed: each,
      ends: [each.file, `${each.file}-meta.xml`].map((name) => `/${name}`),
      part: partOf(each),
      found: [],
    }));
  }

  look(path: string): void {
    const whole = `/${path}`;
    for (const { ends, part, found } of this.#wanted) {
      const isWhole = ends.some((end) => whole.endsWith(end));
      // More than two are as unclear as two.
      if (found.length < 2 && (isWhole || part?.test(whole))) found.push({ path, hasLines: isWhole });
    }
  }

  /** The file that a failure is about; undefined: none, or one of several. */
  of(failed: FailedFile): FailedPath | undefined {
    const found = this.#wanted.find((each) => each.failed === failed)?.found ?? [];
    return found.length === 1 ? found[0] : undefined;
  }
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The file of an object, or of one of its parts, which is one file in the archive: `objects/Account.object`. */
function partOf({ file, subject }: FailedFile): RegExp | undefined {
  const [, object] = /^objects\/([^/]+)\.object$/.exec(file) ?? [];
  if (object === undefined) return undefined;
  const fullName = subject?.slice(subject.indexOf(' ') + 1) ?? object;
  const part = fullName.startsWith(`${object}.`) ? fullName.slice(object.length + 1) : undefined;
  const folder = `/objects/${literal(object)}/`;
  return part === undefined
    ? new RegExp(`${folder}${literal(object)}\\.object-meta\\.xml$`)
    : new RegExp(`${folder}[^/]+/${literal(part)}\\.[^/.]+-meta\\.xml$`);
}
