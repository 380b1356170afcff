import { type FlowRunDetail } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { BASE_PATH } from '../../kernel/data/client.ts';
import { Button, buttonClass } from '../../kernel/parts/button.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { type Output, textOf } from './output-rules.ts';
import { isOpenRun } from './run-rules.ts';
import { outputQuery, sizeOf } from './run.queries.ts';
import styles from './run.module.css';

/** What the run prints, as it comes. */
export function RunOutput({ run }: { run: FlowRunDetail }) {
  const isOpen = isOpenRun(run.status);
  const mayHaveSome = run.outputBytes !== null || (isOpen && run.startedAt !== null);
  const output = useQuery({ ...outputQuery(run.id, isOpen), enabled: mayHaveSome });
  const path = `/api/flows/runs/${run.id}/output`;
  const nothing = isOpen ? t.run.outputYet : t.run.outputNone;
  return (
    <Section
      title={t.run.output}
      actions={
        mayHaveSome && (
          <>
            <a className={buttonClass()} href={BASE_PATH + path} download={`run-${run.id}.txt`}>
              {t.run.download}
            </a>
            <CopyAs
              method="GET"
              path={path}
              command={commandOf('run', 'logs', run.id, ...(isOpen ? ['--follow'] : []))}
            />
          </>
        )
      }
    >
      {mayHaveSome ? (
        <Answered query={output} rows={3}>
          {(found) => (found && found.bytes.length > 0 ? <Printed output={found} isOpen={isOpen} /> : <p>{nothing}</p>)}
        </Answered>
      ) : (
        <p>{nothing}</p>
      )}
    </Section>
  );
}

/** From there on somebody has scrolled up, and wants to read. */
const NEAR_END_PX = 32;

/** The text, which follows its end until somebody scrolls up. */
function Printed({ output, isOpen }: { output: Output; isOpen: boolean }) {
  const pane = useRef<HTMLPreElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const text = useMemo(() => textOf(output.bytes), [output.bytes]);
  useEffect(() => {
    if (isFollowing && pane.current) pane.current.scrollTop = pane.current.scrollHeight;
  }, [text, isFollowing]);
  return (
    <>
      {output.hidden > 0 && <p className={styles.soft}>{t.run.outputEarlier(sizeOf(output.hidden))}</p>}
      <pre
        ref={pane}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
        tabIndex={0}
        role="region"
        aria-label={t.run.output}
        className={styles.output}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < NEAR_END_PX)
        }
      >
        {text}
      </pre>
      {!isOpen && !output.isComplete && <p className={styles.soft}>{t.run.outputIncomplete}</p>}
      {!isFollowing && (
        <div>
          <Button onClick={() => setFollowing(true)}>{t.run.follow}</Button>
        </div>
      )}
    </>
  );
}
