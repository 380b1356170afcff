/** Sends a signal to all processes of a group; the group may be gone already. */
export function signalGroup(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // Nothing of it is left.
  }
}
