export const EXPORT_STATUSES = ['queued', 'running', 'completed', 'failed', 'expired'] as const;
export type ExportStatus = (typeof EXPORT_STATUSES)[number];

/** Where an export may go from where it is. A worker that died leaves it running; the next one begins anew. */
const MOVES: Record<ExportStatus, readonly ExportStatus[]> = {
  queued: ['running', 'completed', 'failed'],
  running: ['running', 'completed', 'failed'],
  completed: ['expired'],
  failed: [],
  expired: [],
};

export const mayMove = (from: ExportStatus, to: ExportStatus): boolean => MOVES[from].includes(to);

/** From which an export may reach a status. */
export const origins = (to: ExportStatus): ExportStatus[] => EXPORT_STATUSES.filter((from) => mayMove(from, to));

/** How long the file of an export is kept. */
export const KEPT_DAYS = 7;
