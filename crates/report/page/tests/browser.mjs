// Debian's Chromium, and a page in it.

import { existsSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const QUIET = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export const hasBrowser = existsSync(EXECUTABLE);

export function launch() {
  return chromium.launch({ executablePath: EXECUTABLE, args: QUIET });
}

// Pages of a context share a process, and its compiled scripts.
const shared = new WeakMap();

async function contextOf(browser, options) {
  const isPlain = Object.keys(options).length === 0;
  if (isPlain && shared.has(browser)) return { isPlain, context: shared.get(browser) };
  const context = await browser.newContext(options);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  if (isPlain) shared.set(browser, context);
  return { isPlain, context };
}

/** Records errors, and requests to the network. */
export async function open(browser, file, { viewport = { width: 1280, height: 900 }, colorScheme = "light", ...options } = {}) {
  const { isPlain, context } = await contextOf(browser, options);
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  const wrongs = [];
  page.on("console", (message) => wrongs.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrongs.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) wrongs.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  await page.locator("html[data-ready]").waitFor();
  return { page, wrongs, close: () => (isPlain ? page : context).close() };
}

/** Unfolds and shows a chart until it is drawn. */
export async function drawn(page, plot) {
  await plot.evaluate((host) => {
    for (let details = host.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
  });
  await plot.scrollIntoViewIfNeeded();
  // A chart without a case that filters leave has no size.
  await plot.and(page.locator(".drawn")).waitFor({ state: "attached" });
  return plot;
}

/** The drawing of a chart for its width. */
export function picture(plot) {
  return plot.locator("> svg").filter({ visible: true });
}

/** What the page's scripts know. */
export async function dataOf(page) {
  const packed = await page.locator("#data").textContent();
  return JSON.parse(inflateRawSync(Buffer.from(packed, "base64")));
}

/** The first chart of each kind. */
export async function oneOfEachKind(page) {
  const { charts } = await dataOf(page);
  const numbers = [...new Set(charts.map((chart) => chart.kind))].map((kind) => charts.findIndex((chart) => chart.kind === kind));
  if (numbers.length < 4) throw new Error(`only ${numbers.length} kinds of charts`);
  return numbers.map((number) => page.locator(`[data-chart="${number}"]`));
}

/** The number of colours in a picture. */
export async function colours(page, locator) {
  const png = (await locator.screenshot()).toString("base64");
  return page.evaluate(async (png) => {
    // The page allows no image from elsewhere.
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const met = new Map();
    for (let at = 0; at < data.length; at += 4) {
      const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      met.set(colour, (met.get(colour) ?? 0) + 1);
    }
    return { different: met.size, most: Math.max(...met.values()) / (image.width * image.height) };
  }, png);
}
