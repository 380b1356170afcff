import { purgeChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { expiringTokensSweep } from './application-tokens/application-tokens.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  expiringTokensSweep,
  purgeChore('expired-sessions', 'purge_sessions'),
  purgeChore('expired-invitations', 'purge_invitations'),
  purgeChore('expired-sign-in-failures', 'purge_sign_in_failures'),
  purgeChore('expired-known-sign-ins', 'purge_known_sign_ins'),
];
