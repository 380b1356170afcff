const NAMED = `Backspace Tab Enter Escape Space Delete Insert Home End PageUp PageDown ArrowLeft ArrowUp ArrowRight ArrowDown
  Shift ShiftLeft ShiftRight Control ControlLeft ControlRight Alt AltLeft AltRight AltGraph Meta MetaLeft MetaRight
  CapsLock NumLock ScrollLock Pause PrintScreen ContextMenu
  NumpadEnter NumpadDecimal NumpadMultiply NumpadAdd NumpadSubtract NumpadDivide
  Semicolon Equal Comma Minus Period Slash Backquote BracketLeft Backslash BracketRight Quote
  AudioVolumeMute AudioVolumeDown AudioVolumeUp MediaTrackNext MediaTrackPrevious MediaPlayPause`;
const NUMBERED = /^(?:F(?:[1-9]|1[0-2])|(?:Digit|Numpad)[0-9]|Key[A-Z])$/;
const NAMES: ReadonlySet<string> = new Set(NAMED.split(/\s+/));

/** Whether a recorded key can be pressed: a character of the US layout, or a key that it has. */
export const isPlayedKey = (key: string): boolean =>
  key.length === 1 ? /[\x20-\x7e]/.test(key) : NAMES.has(key) || NUMBERED.test(key);
