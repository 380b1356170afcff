import type { FlowRun } from '@quayside/client';
import type { Tone } from '../../kernel/parts/status.tsx';

const TONES: Record<FlowRun['status'], Tone> = {
  Waiting: 'wait',
  Running: 'busy',
  Completed: 'good',
  Partial: 'wait',
  Failed: 'bad',
  Cancelled: 'idle',
};

export const toneOfRun = (status: FlowRun['status']): Tone => TONES[status];
