import { ProblemError } from '@quayside/client';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { t } from '../../messages/messages.ts';
import { tellSignedIn } from '../data/session.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/page.tsx';

export const MissingPage = () => (
  <Empty title={t.shell.notFound}>
    <p>{t.shell.notFoundHint}</p>
    <Link to="/">{t.shell.home}</Link>
  </Empty>
);

/** What is shown instead of a page that has failed, or whose file is gone. */
export const FailedPage = ({ error }: { error: unknown }) => (
  <Empty title={t.shell.pageFailed}>
    <p>{t.shell.pageFailedHint}</p>
    <p>
      <code>{error instanceof ProblemError ? error.problem.detail : String(error)}</code>
    </p>
    <Button look="main" onClick={() => location.reload()}>
      {t.shell.reload}
    </Button>
  </Empty>
);

/** Where the sign-in of another tab ends. */
export function SignedInPage() {
  useEffect(() => {
    tellSignedIn();
    window.close();
  }, []);
  return <Empty title={t.shell.signedIn} />;
}
