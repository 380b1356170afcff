import { type Environment, type ProblemError, startFlowRun } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAct } from '../../kernel/data/act.ts';
import { useProject } from '../../kernel/data/address.ts';
import { client } from '../../kernel/data/client.ts';
import { useCan, useMe } from '../../kernel/data/me.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { Button } from '../../kernel/parts/button.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { DialogActions } from '../../kernel/parts/dialog.tsx';
import { Checkbox, errorAt, TextArea } from '../../kernel/parts/fields.tsx';
import { Answered } from '../../kernel/parts/page.tsx';
import { ProblemNote } from '../../kernel/parts/problem-note.tsx';
import { t } from '../../messages/messages.ts';
import { GateList } from './gate-list.tsx';
import {
  gatesOf,
  type ReleaseInProject,
  requestArguments,
  type StartOptions,
  startPayload,
  type Verdict,
  verdictOf,
  zonesOf,
} from './gate-rules.ts';
import { dryRunQuery } from './gates.queries.ts';
import { AlreadyUnderWay, Changes, VerdictNote } from './gate-notes.tsx';
import styles from './gates.module.css';

interface StartFormProps {
  release: ReleaseInProject;
  environmentName: string;
  environment: Environment | undefined;
  onDone: () => void;
}

/** Stands for a reason that is not written yet, so that the gates show what an override would pass. */
const UNWRITTEN = '…';

interface Options {
  failOutsideWindow: boolean;
  isOverride: boolean;
  reason: string;
  /** Also take it to where it must be deployed before. */
  isFirst: boolean;
}

const WITHOUT: Options = { failOutsideWindow: false, isOverride: false, reason: '', isFirst: false };

/** The gates of a release before an environment, and the form that takes it there. */
export function StartForm({ release, environmentName, environment, onDone }: StartFormProps) {
  const can = useCan();
  const [options, setOptions] = useState(WITHOUT);
  const { failOutsideWindow, isOverride, reason, isFirst } = options;
  const seen: StartOptions = { failOutsideWindow, overrideReason: isOverride ? UNWRITTEN : undefined };
  const plain = useQuery(dryRunQuery(startPayload('execute-release', release, environmentName)));
  const told = useQuery(dryRunQuery(startPayload('execute-release', release, environmentName, seen)));
  // Until the gates of another choice are known, the option stands as it did.
  const missing = (told.data ?? plain.data)?.gates?.after?.missing ?? [];
  const goesFirst = isFirst && missing.length > 0;
  const first = goesFirst ? missing : [];
  const requested = useQuery({
    ...dryRunQuery(startPayload('request-release', release, environmentName, { ...seen, first })),
    enabled: told.data !== undefined,
  });
  const gates = told.data && gatesOf(told.data, failOutsideWindow, goesFirst);
  const verdict = gates && requested.data && verdictOf(told.data, requested.data, gates, goesFirst);
  return (
    <div className={styles.form}>
      <Answered query={told} rows={7}>
        {(answer) => (
          <>
            <Answered query={requested} rows={1}>
              {() => <VerdictNote verdict={verdict} />}
            </Answered>
            {gates && <GateList gates={gates} zones={environment ? zonesOf(environment) : []} />}
            <Changes answer={answer} />
          </>
        )}
      </Answered>
      <AlreadyUnderWay release={release} environmentName={environmentName} />
      {can('startFlowRun') && (
        <Start
          release={release}
          environmentName={environmentName}
          started={{ failOutsideWindow, overrideReason: isOverride ? reason : undefined, first }}
          verdict={verdict}
          isComplete={!isOverride || reason.trim() !== ''}
          onDone={onDone}
        >
          {(problem) => <OptionFields options={options} onOptions={setOptions} missing={missing} problem={problem} />}
        </Start>
      )}
    </div>
  );
}

interface StartProps extends Pick<StartFormProps, 'release' | 'environmentName' | 'onDone'> {
  started: StartOptions;
  verdict: Verdict | undefined;
  isComplete: boolean;
  children: (problem: ProblemError | undefined) => ReactNode;
}

function Start({ release, environmentName, started, verdict, isComplete, onDone, children }: StartProps) {
  const navigate = useNavigate();
  const project = useProject();
  const payload = startPayload('request-release', release, environmentName, started);
  const starting = useAct(
    () => startFlowRun({ client, body: { payload } }),
    (answer) => {
      onDone();
      announce(t.gates.started(release.releaseName, environmentName));
      if ('id' in answer) void navigate({ to: `/runs/${answer.id}`, search: { project } });
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!starting.isActing) starting.act(undefined);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      {children(starting.problem)}
      <ProblemNote problem={starting.problem} />
      <DialogActions>
        <CopyAs
          method="POST"
          path="/api/flows/run"
          body={{ payload }}
          command={commandOf(...requestArguments(release, environmentName, started))}
        />
        <Button
          type="submit"
          look="main"
          disabled={!verdict || verdict.can === 'no' || !isComplete}
          isActing={starting.isActing}
        >
          {verdict?.can === 'waits' ? t.gates.startAndWait : t.gates.start}
        </Button>
      </DialogActions>
    </form>
  );
}

interface OptionFieldsProps {
  options: Options;
  onOptions: (options: Options) => void;
  missing: readonly string[];
  problem: ProblemError | undefined;
}

const OptionFields = ({ options, onOptions, missing, problem }: OptionFieldsProps) => (
  <fieldset className={styles.options}>
    <legend>{t.gates.options}</legend>
    {missing.length > 0 && (
      <Checkbox
        label={t.gates.first(missing.join(', '))}
        isChecked={options.isFirst}
        onChecked={(isFirst) => onOptions({ ...options, isFirst })}
      />
    )}
    <Checkbox
      label={t.gates.fail}
      isChecked={options.failOutsideWindow}
      onChecked={(failOutsideWindow) => onOptions({ ...options, failOutsideWindow })}
    />
    <Override
      isChecked={options.isOverride}
      onChecked={(isOverride) => onOptions({ ...options, isOverride })}
      reason={options.reason}
      onReason={(reason) => onOptions({ ...options, reason })}
      error={errorAt(problem, '#/body/payload/override/reason')}
    />
  </fieldset>
);

interface OverrideProps {
  isChecked: boolean;
  onChecked: (isChecked: boolean) => void;
  reason: string;
  onReason: (reason: string) => void;
  error: string | undefined;
}

/** Owners alone pass the policy of an environment, and say why. */
function Override({ isChecked, onChecked, reason, onReason, error }: OverrideProps) {
  const { role } = useMe();
  if (role !== 'owner') return null;
  return (
    <>
      <Checkbox label={t.gates.override} isChecked={isChecked} onChecked={onChecked} />
      {isChecked && (
        <TextArea
          label={t.gates.overrideReason}
          hint={t.gates.overrideHint}
          value={reason}
          onValue={onReason}
          error={error}
          isRequired
        />
      )}
    </>
  );
}
