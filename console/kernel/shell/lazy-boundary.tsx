import { Component, type ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';

interface LazyBoundaryProps {
  onClose: () => void;
  children: ReactNode;
}

/** Around a dialog whose file is loaded when it is opened: the file is gone where the page is of an older version. */
export class LazyBoundary extends Component<LazyBoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    const { onClose, children } = this.props;
    if (!this.state.hasFailed) return children;
    return (
      <Dialog title={t.shell.newVersion} onClose={onClose}>
        <p>{t.shell.newVersionHint}</p>
        <DialogActions>
          <Button look="main" onClick={() => location.reload()}>
            {t.shell.reload}
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
}
