/** Keys, mouse, input methods and pasted text over a picture, as messages to the host of the browser. */

const BUTTONS = ['left', 'middle', 'right'];
const PASTE_MAX = 100_000;
const LINE_PIXELS = 40;
const IS_MAC = navigator.platform.startsWith('Mac');

/** Alt 1, Ctrl 2, Meta 4, Shift 8; the Command key of a Mac stands for Ctrl. */
const modifiersOf = (event) =>
  (event.altKey ? 1 : 0) +
  (event.ctrlKey || (IS_MAC && event.metaKey) ? 2 : 0) +
  (event.metaKey && !IS_MAC ? 4 : 0) +
  (event.shiftKey ? 8 : 0);

/**
 * @param canvas the picture. @param typing the field that has the focus while somebody works in it.
 * @param send takes a message. @param isActive whether this viewer controls. @param leave moves the focus out of the picture.
 */
export function takeInput({ canvas, typing, send, isActive, leave }) {
  let isComposing = false;
  let move;

  /** A point of the page in the picture, which is fitted in the canvas. */
  const pointOf = ({ clientX, clientY }) => {
    const box = canvas.getBoundingClientRect();
    const [width, height] = [
      Number(canvas.dataset.width) || canvas.width,
      Number(canvas.dataset.height) || canvas.height,
    ];
    const scale = Math.min(box.width / width, box.height / height);
    const x = (clientX - box.left - (box.width - width * scale) / 2) / scale;
    const y = (clientY - box.top - (box.height - height * scale) / 2) / scale;
    return { x: Math.round(x), y: Math.round(y) };
  };
  const mouse = (kind, event, clicks = 0) => ({
    type: 'mouse',
    kind,
    ...pointOf(event),
    modifiers: modifiersOf(event),
    button: kind === 'move' ? 'none' : (BUTTONS[event.button] ?? 'none'),
    buttons: event.buttons & 7,
    clicks: Math.min(clicks, 3),
  });
  const insert = (text) => {
    if (text !== '') send({ type: 'insert', text: text.slice(0, PASTE_MAX) });
  };

  let clicks = 0;
  let lastDown = { at: 0, x: 0, y: 0 };
  canvas.addEventListener('pointerdown', (event) => {
    if (!isActive()) return;
    event.preventDefault();
    typing.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    const isNear = Math.hypot(event.clientX - lastDown.x, event.clientY - lastDown.y) < 5;
    clicks = isNear && event.timeStamp - lastDown.at < 500 ? clicks + 1 : 1;
    lastDown = { at: event.timeStamp, x: event.clientX, y: event.clientY };
    flushMove();
    send(mouse('down', event, clicks));
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!isActive()) return;
    flushMove();
    send(mouse('up', event, clicks));
  });
  const flushMove = () => {
    if (move) send(move);
    move = undefined;
  };
  canvas.addEventListener('pointermove', (event) => {
    if (!isActive()) return;
    if (!move) requestAnimationFrame(flushMove);
    move = mouse('move', event);
  });
  canvas.addEventListener('contextmenu', (event) => {
    if (isActive()) event.preventDefault();
  });
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!isActive()) return;
      event.preventDefault();
      const pixels = event.deltaMode === 0 ? 1 : LINE_PIXELS;
      const bounded = (delta) => Math.max(-5_000, Math.min(5_000, delta * pixels));
      send({
        type: 'wheel',
        ...pointOf(event),
        modifiers: modifiersOf(event),
        dx: bounded(event.deltaX),
        dy: bounded(event.deltaY),
      });
    },
    { passive: false },
  );

  /** Keys whose press was sent: the release of one that answered a dialog is not the page's. */
  const pressed = new Set();
  const key = (kind) => (event) => {
    if (!isActive()) return;
    if (event.key === 'F6') {
      if (kind === 'down') leave();
      event.preventDefault();
      return;
    }
    // The input method has it, or a key that composes with the next one: the text follows.
    if (event.isComposing || event.keyCode === 229 || ['Dead', 'Unidentified', 'Process'].includes(event.key)) return;
    const isShortcut = event.ctrlKey || event.metaKey;
    if (isShortcut && event.key.toLowerCase() === 'v') return;
    if (['F11', 'F12'].includes(event.key)) return;
    event.preventDefault();
    if (kind === 'down') pressed.add(event.code);
    else if (!pressed.delete(event.code)) return;
    send({
      type: 'key',
      kind,
      key: IS_MAC && event.key === 'Meta' ? 'Control' : event.key.slice(0, 40),
      code: event.code.slice(0, 40),
      keyCode: Math.min(event.keyCode, 255),
      location: event.location,
      modifiers: modifiersOf(event),
      isRepeated: event.repeat,
    });
  };
  typing.addEventListener('keydown', key('down'));
  typing.addEventListener('keyup', key('up'));
  typing.addEventListener('compositionstart', () => {
    isComposing = true;
  });
  typing.addEventListener('compositionupdate', ({ data }) => {
    const text = (data ?? '').slice(0, 1_000);
    if (isActive()) send({ type: 'compose', text, start: text.length, end: text.length });
  });
  typing.addEventListener('compositionend', ({ data }) => {
    isComposing = false;
    typing.value = '';
    if (!isActive()) return;
    if (data) insert(data);
    else send({ type: 'compose', text: '', start: 0, end: 0 });
  });
  typing.addEventListener('input', (event) => {
    if (isComposing || event.isComposing) return;
    const text = typing.value;
    typing.value = '';
    if (isActive()) insert(text);
  });
  typing.addEventListener('paste', (event) => {
    event.preventDefault();
    if (isActive()) insert(event.clipboardData?.getData('text/plain') ?? '');
  });
}
