import { t } from '../../messages/messages.ts';
import { BASE_PATH } from '../data/client.ts';
import { announce } from './announce.tsx';
import { Button } from './button.tsx';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A request as a line of a shell, with its credential in `QUAYSIDE_TOKEN`. */
export function curlOf(method: string, path: string, body?: unknown): string {
  const data =
    body === undefined ? [] : ['-H', quoted('Content-Type: application/json'), '-d', quoted(JSON.stringify(body))];
  const parts = ['curl', '-X', method, '-H', '"Authorization: Bearer $QUAYSIDE_TOKEN"', ...data];
  return [...parts, quoted(`${location.origin}${BASE_PATH}${path}`)].join(' ');
}

async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  announce(t.parts.copied);
}

interface CopyProps {
  method: string;
  path: string;
  body?: unknown;
  /** The same as a line of `quayside`. */
  command?: string;
}

/** What a button does, as `curl` and as a line of the command line. */
export const CopyAs = ({ method, path, body, command }: CopyProps) => (
  <span>
    <Button look="quiet" onClick={() => void copy(curlOf(method, path, body))}>
      {t.parts.copyCurl}
    </Button>
    {command && (
      <Button look="quiet" onClick={() => void copy(command)}>
        {t.parts.copyCommand}
      </Button>
    )}
  </span>
);

/** Arguments as a shell takes them. */
export const commandOf = (...parts: readonly string[]): string =>
  ['quayside', ...parts].map((part) => (/^[\w./:=@-]+$/.test(part) ? part : quoted(part))).join(' ');

/** Copies a text as it is. */
export const CopyText = ({ text, label }: { text: string; label: string }) => (
  <Button look="quiet" onClick={() => void copy(text)}>
    {label}
  </Button>
);
