import { useState } from 'react';
import { createPortal } from 'react-dom';
import { t } from '../../messages/messages.ts';
import { BASE_PATH } from '../data/client.ts';
import { announce } from './announce.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import fields from './fields.module.css';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A request as a line of a shell, with its credential in `QUAYSIDE_TOKEN`. */
export function curlOf(method: string, path: string, body?: unknown): string {
  const data =
    body === undefined ? [] : ['-H', quoted('Content-Type: application/json'), '-d', quoted(JSON.stringify(body))];
  const parts = ['curl', '-X', method, '-H', '"Authorization: Bearer $QUAYSIDE_TOKEN"', ...data];
  return [...parts, quoted(`${location.origin}${BASE_PATH}${path}`)].join(' ');
}

/** Copies a text; where the browser does not let pages do so (an insecure origin), shows it selected, to be copied by hand. */
function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [shown, show] = useState<string>();
  const copy = async () => {
    const copied = text();
    try {
      await navigator.clipboard.writeText(copied);
      announce(t.parts.copied);
    } catch {
      show(copied);
    }
  };
  return (
    <>
      <Button look="quiet" onClick={() => void copy()}>
        {label}
      </Button>
      {shown !== undefined &&
        createPortal(
          <Dialog title={label} onClose={() => show(undefined)}>
            <textarea
              className={fields.input}
              aria-label={t.parts.copyByHand}
              rows={5}
              readOnly
              value={shown}
              onFocus={({ target }) => target.select()}
            />
            <p>{t.parts.copyByHand}</p>
          </Dialog>,
          document.body,
        )}
    </>
  );
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
    <CopyButton text={() => curlOf(method, path, body)} label={t.parts.copyCurl} />
    {command && <CopyButton text={() => command} label={t.parts.copyCommand} />}
  </span>
);

/** Arguments as a shell takes them. */
export const commandOf = (...parts: readonly string[]): string =>
  ['quayside', ...parts].map((part) => (/^[\w./:=@-]+$/.test(part) ? part : quoted(part))).join(' ');

/** Copies a text as it is. */
export const CopyText = ({ text, label }: { text: string; label: string }) => (
  <CopyButton text={() => text} label={label} />
);
