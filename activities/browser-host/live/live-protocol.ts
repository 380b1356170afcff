import { z } from 'zod';
import { DIALOG_KINDS } from '../../../domain/review/browser-sessions/live/dialog-rules.ts';
import type { Picture } from '../chromium/browser.ts';

export const PASTE_MAX_CHARACTERS = 100_000;
const TEXT_MAX_CHARACTERS = 1_000;
const URL_MAX_CHARACTERS = 4_000;

/** In CSS pixels of the picture; a little outside of it while something is dragged. */
const Coordinate = z.number().min(-10_000).max(10_000);
/** Alt 1, Ctrl 2, Meta 4, Shift 8. */
const Modifiers = z.int().min(0).max(15);
const TabNumber = z.int().min(0).max(65_535);
const point = { x: Coordinate, y: Coordinate, modifiers: Modifiers };

/** An address that a tab may be sent to; where it leads is for the way out of the browser to allow. */
const WebAddress = z
  .string()
  .max(URL_MAX_CHARACTERS)
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http or https address');

/** What acts on the browser: only the one who controls it may send these. */
export const InputMessage = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('mouse'),
    kind: z.enum(['move', 'down', 'up']),
    ...point,
    button: z.enum(['none', 'left', 'middle', 'right']),
    /** Buttons that are down: left 1, right 2, middle 4. */
    buttons: z.int().min(0).max(7),
    clicks: z.int().min(0).max(3),
  }),
  z.strictObject({ type: z.literal('wheel'), ...point, dx: Coordinate, dy: Coordinate }),
  z.strictObject({
    type: z.literal('key'),
    kind: z.enum(['down', 'up']),
    key: z.string().min(1).max(40),
    code: z.string().max(40),
    keyCode: z.int().min(0).max(255),
    location: z.int().min(0).max(3),
    modifiers: Modifiers,
    isRepeated: z.boolean(),
  }),
  /** What an input method shows before it is settled; empty: it was given up. */
  z.strictObject({
    type: z.literal('compose'),
    text: z.string().max(TEXT_MAX_CHARACTERS),
    start: z.int().min(0).max(TEXT_MAX_CHARACTERS),
    end: z.int().min(0).max(TEXT_MAX_CHARACTERS),
  }),
  /** What an input method settled on, or what was pasted. */
  z.strictObject({ type: z.literal('insert'), text: z.string().min(1).max(PASTE_MAX_CHARACTERS) }),
]);
export type InputMessage = z.infer<typeof InputMessage>;

const SteerMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('history'), to: z.enum(['back', 'forward', 'reload']) }),
  z.strictObject({ type: z.literal('go'), url: WebAddress }),
  z.strictObject({ type: z.literal('open'), url: WebAddress.optional() }),
  z.strictObject({ type: z.literal('close'), tab: TabNumber }),
]);
export type SteerMessage = z.infer<typeof SteerMessage>;

export const ViewerMessage = z.discriminatedUnion('type', [
  /** A picture was drawn: another may be sent. */
  z.strictObject({ type: z.literal('seen'), number: z.int().min(0).max(0xffff_ffff) }),
  /** Null: the tab that is worked in. */
  z.strictObject({ type: z.literal('watch'), tab: TabNumber.nullable() }),
  z.strictObject({ type: z.literal('control'), take: z.boolean() }),
  /** To the dialog of that number, by the one who controls. */
  z.strictObject({
    type: z.literal('answer'),
    tab: TabNumber,
    dialog: z.int().min(1),
    accept: z.boolean(),
    text: z.string().max(TEXT_MAX_CHARACTERS).optional(),
  }),
  SteerMessage,
  InputMessage,
]);
export type ViewerMessage = z.infer<typeof ViewerMessage>;

const TabView = z.object({ number: TabNumber, title: z.string(), url: z.string() });
const OpenDialog = z.object({
  tab: TabNumber,
  number: z.int(),
  kind: z.enum(DIALOG_KINDS),
  message: z.string(),
  /** What the page proposes to answer a prompt with. */
  proposal: z.string(),
});
const Person = z.object({ id: z.int(), name: z.string() });

export const HostMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    you: z.int(),
    mayControl: z.boolean(),
    isRecorded: z.boolean(),
    viewport: z.object({ width: z.int(), height: z.int() }),
  }),
  z.object({ type: z.literal('tabs'), tabs: z.array(TabView), /** That is worked in. */ front: TabNumber.nullable() }),
  z.object({ type: z.literal('watching'), tab: TabNumber.nullable(), follows: z.boolean() }),
  z.object({ type: z.literal('time'), expiresAt: z.iso.datetime(), leftMs: z.int() }),
  z.object({ type: z.literal('people'), people: z.array(Person), controller: z.int().nullable() }),
  /** Dialogs of tabs that wait for an answer. */
  z.object({ type: z.literal('dialogs'), dialogs: z.array(OpenDialog) }),
  z.object({ type: z.literal('notice'), text: z.string() }),
  z.object({ type: z.literal('end'), reason: z.string(), detail: z.string().nullable() }),
]);
export type HostMessage = z.infer<typeof HostMessage>;

/** A message of a viewer; undefined when it is none. */
export function viewerMessage(text: string): ViewerMessage | undefined {
  try {
    return ViewerMessage.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Before the JPEG: kind, spare byte, tab, number, time taken (milliseconds of the epoch), width, height; big-endian. */
export const PICTURE_HEADER_BYTES = 20;
const PICTURE = 1;

/** What precedes the bytes of a picture that is sent. */
export interface PictureHead extends Omit<Picture, 'jpeg'> {
  tab: number;
  /** Number of the picture, by which the viewer says that it drew it. */
  number: number;
}

export function pictureHeader({ tab, number, atMs, width, height }: PictureHead): Buffer {
  const header = Buffer.alloc(PICTURE_HEADER_BYTES);
  header.writeUInt8(PICTURE, 0);
  header.writeUInt16BE(tab & 0xffff, 2);
  header.writeUInt32BE(number >>> 0, 4);
  header.writeDoubleBE(atMs, 8);
  header.writeUInt16BE(Math.min(Math.round(width), 0xffff), 16);
  header.writeUInt16BE(Math.min(Math.round(height), 0xffff), 18);
  return header;
}

/** The header of a binary message. Throws for one that is no picture. */
export function readPictureHeader(message: Buffer): PictureHead {
  if (message.length < PICTURE_HEADER_BYTES || message.readUInt8(0) !== PICTURE) throw new Error('no picture');
  return {
    tab: message.readUInt16BE(2),
    number: message.readUInt32BE(4),
    atMs: message.readDoubleBE(8),
    width: message.readUInt16BE(16),
    height: message.readUInt16BE(18),
  };
}
