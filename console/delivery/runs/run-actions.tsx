import { cancelFlowRun, type FlowRunDetail, rerunFlowRun } from '@quayside/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useAct } from '../../kernel/data/act.ts';
import { useProject } from '../../kernel/data/address.ts';
import { client } from '../../kernel/data/client.ts';
import { useCan } from '../../kernel/data/me.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { Button, buttonClass } from '../../kernel/parts/button.tsx';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { Checkbox, TextArea } from '../../kernel/parts/fields.tsx';
import { ForeignLink } from '../../kernel/parts/foreign-link.tsx';
import { isWebAddress } from '../../kernel/parts/foreign-link-rules.ts';
import { errorsOfPayload, isOpenRun, payloadOf } from './run-rules.ts';

/** What can be done with a run, and where else it can be seen. */
export function RunActions({ run }: { run: FlowRunDetail }) {
  const can = useCan();
  const [asking, ask] = useState<'cancel' | 'rerun'>();
  const isOpen = isOpenRun(run.status);
  const close = () => ask(undefined);
  return (
    <>
      <Elsewhere href={run.cicdRunUrl} name={t.run.pipeline} />
      <Elsewhere href={run.temporalUrl} name={t.run.temporal} />
      {isOpen && run.cancelRequestedAt === null && can('cancelFlowRun') && (
        <Button look="danger" onClick={() => ask('cancel')}>
          {t.run.cancel}
        </Button>
      )}
      {!isOpen && can('rerunFlowRun') && (
        <Button look="main" onClick={() => ask('rerun')}>
          {t.run.rerun}
        </Button>
      )}
      {asking === 'cancel' && <CancelDialog id={run.id} onClose={close} />}
      {asking === 'rerun' && <RerunDialog run={run} onClose={close} />}
    </>
  );
}

const Elsewhere = ({ href, name }: { href: string | null | undefined; name: string }) =>
  isWebAddress(href) ? (
    <ForeignLink href={href} className={buttonClass()}>
      {name}
    </ForeignLink>
  ) : null;

function CancelDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const acting = useAct(
    () => cancelFlowRun({ client, path: { id } }),
    () => {
      onClose();
      announce(t.run.cancelled);
    },
  );
  return (
    <ConfirmDialog title={t.run.cancel} label={t.run.cancel} acting={acting} input={() => ({})} onClose={onClose}>
      <p>{t.run.keepRunning}</p>
      <CopyAs method="POST" path={`/api/flows/runs/${id}/cancel`} command={commandOf('run', 'cancel', id)} />
    </ConfirmDialog>
  );
}

/** Starts it anew, with the payload that it had or with one that is written here. */
function RerunDialog({ run: { id, payload }, onClose }: { run: FlowRunDetail; onClose: () => void }) {
  const navigate = useNavigate();
  const project = useProject();
  const [isChanged, setChanged] = useState(false);
  const [text, setText] = useState(() => JSON.stringify(payload, null, 2));
  const acting = useAct(
    (body: { payload?: Record<string, unknown> }) => rerunFlowRun({ client, path: { id }, body }),
    ({ id: next }) => {
      onClose();
      announce(t.run.rerunStarted);
      void navigate({ to: `/runs/${next}`, search: { project } });
    },
  );
  const written = payloadOf(text);
  const body = !isChanged ? {} : 'payload' in written ? { payload: written.payload } : undefined;
  const error = 'wrong' in written ? t.run.notJson(written.wrong) : errorsOfPayload(acting.problem?.problem.errors);
  const path = `/api/flows/runs/${id}/rerun`;
  return (
    <ConfirmDialog title={t.run.rerun} label={t.run.rerun} acting={acting} input={() => body} onClose={onClose}>
      <p>{t.run.rerunHint}</p>
      <Checkbox label={t.run.changed} isChecked={isChanged} onChecked={setChanged} />
      {isChanged && (
        <TextArea
          label={t.run.payload}
          hint={t.run.payloadHint}
          error={error}
          rows={12}
          value={text}
          onValue={setText}
          isRequired
        />
      )}
      {body && (
        <CopyAs
          method="POST"
          path={path}
          body={body}
          command={commandOf('api', 'POST', path, '--data', JSON.stringify(body))}
        />
      )}
    </ConfirmDialog>
  );
}
