import type { Actor } from '../shared/actor.ts';

export const LIVE_MODES = ['watch', 'control'] as const;
/** Who may control may watch, too. */
export type LiveMode = (typeof LIVE_MODES)[number];

/** Somebody who watches a live browser. */
export interface LiveViewer {
  /** As others who watch see it. */
  name: string;
  may: LiveMode;
  /** In whose name it is noted that they took control. */
  actor: Actor;
  /** The link by which they came; null: they are signed in. */
  linkId: string | null;
}
