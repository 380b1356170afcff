import { literalSource } from '../../kernel/text/pattern-rules.ts';

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
  readonly #wanted: { failed: FailedFile; ways: { is: (path: string) => boolean; found: FailedPath[] }[] }[];

  constructor(failed: readonly FailedFile[]) {
    this.#wanted = failed.map((each) => ({
      failed: each,
      ways: waysTo(each).map((is) => ({ is, found: [] })),
    }));
  }

  look(path: string): void {
    // More than two are as unclear as two.
    for (const { ways } of this.#wanted)
      for (const [index, { is, found }] of ways.entries())
        if (found.length < 2 && is(`/${path}`)) found.push({ path, hasLines: index < 2 });
  }

  /** The file that a failure is about; undefined: none, or one of several. */
  of(failed: FailedFile): FailedPath | undefined {
    const { ways = [] } = this.#wanted.find((each) => each.failed === failed) ?? {};
    const { found } = ways.find((way) => way.found.length > 0) ?? { found: [] };
    return found.length === 1 ? found[0] : undefined;
  }
}

/** How a file of the archive may be found, the surest way first: as it is, as source has it, or as a part of an object. */
function waysTo(failed: FailedFile): ((path: string) => boolean)[] {
  const part = partOf(failed);
  return [
    (path) => path.endsWith(`/${failed.file}`),
    (path) => path.endsWith(`/${failed.file}-meta.xml`),
    ...(part ? [(path: string) => part.test(path)] : []),
  ];
}

/** The file of an object, or of one of its parts, which is one file in the archive: `objects/Account.object`. */
function partOf({ file, subject }: FailedFile): RegExp | undefined {
  const [, object] = /^objects\/([^/]+)\.object$/.exec(file) ?? [];
  if (object === undefined) return undefined;
  const fullName = subject?.slice(subject.indexOf(' ') + 1) ?? object;
  const part = fullName.startsWith(`${object}.`) ? fullName.slice(object.length + 1) : undefined;
  const folder = `/objects/${literalSource(object)}/`;
  return part === undefined
    ? new RegExp(`${folder}${literalSource(object)}\\.object-meta\\.xml$`)
    : new RegExp(`${folder}[^/]+/${literalSource(part)}\\.[^/.]+-meta\\.xml$`);
}
