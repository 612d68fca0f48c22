/** A smaller PNG of a screenshot: at most 256 colours, each pixel the nearest of the most frequent. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

interface Image {
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel, row by row. */
  readonly rgb: Buffer;
}

export function fewerColours(png: Buffer): Buffer {
  const { width, height, rgb } = decode(png);
  const palette = frequent(rgb, 256);
  const nearest = new Map<number, number>();
  const raw = Buffer.alloc(height * (width + 1)); // each row begins with its filter: none
  for (let at = 0; at < width * height; at++) {
    const colour = rgb.readUIntBE(at * 3, 3);
    let index = nearest.get(colour);
    if (index === undefined) nearest.set(colour, (index = nearestOf(colour, palette)));
    raw[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // eight bits, a palette
  const colours = Buffer.from(palette.flatMap((colour) => [...parts(colour)]));
  const data = deflateSync(raw, { level: 9 });
  const end = Buffer.alloc(0);
  const all = [chunk("IHDR", header), chunk("PLTE", colours), chunk("IDAT", data), chunk("IEND", end)];
  return Buffer.concat([SIGNATURE, ...all]);
}

/** The colours that most pixels have. */
function frequent(rgb: Buffer, most: number): number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < rgb.length; at += 3) {
    const colour = rgb.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, most).map(([colour]) => colour);
}

function nearestOf(colour: number, palette: readonly number[]): number {
  const [red, green, blue] = parts(colour);
  let [best, least] = [0, Infinity];
  for (const [index, candidate] of palette.entries()) {
    const [r, g, b] = parts(candidate);
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function parts(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body) >>> 0);
  return Buffer.concat([length, body, check]);
}

/** What Chromium writes: eight bits a channel, with or without alpha, not interlaced. */
function decode(png: Buffer): Image {
  const data: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = SIGNATURE.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (type === "IHDR") {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      channels = { 2: 3, 6: 4 }[body[9] ?? 0] ?? 0;
      if (body[8] !== 8 || channels === 0 || body[12] !== 0) throw new Error("not such a PNG");
    }
    if (type === "IDAT") data.push(body);
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  const rgb = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at++) bytes.copy(rgb, at * 3, at * channels, at * channels + 3);
  return { width, height, rgb };
}

function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Buffer {
  const out = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const left = x < channels ? 0 : (out[row * stride + x - channels] ?? 0);
      const up = row === 0 ? 0 : (out[(row - 1) * stride + x] ?? 0);
      const corner = row === 0 || x < channels ? 0 : (out[(row - 1) * stride + x - channels] ?? 0);
      const before = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      out[row * stride + x] = ((raw[row * (stride + 1) + 1 + x] ?? 0) + before) & 255;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
