// The picture of a page's first screen, as in README: node picture.mjs report.html ../../../../docs/page.png

import { resolve } from "node:path";

import { launch, open } from "./browser.mjs";

const WIDTH = 1280;
// Up to the end of the answers, and not further.
const MOST = 1440;

const [file, path] = process.argv.slice(2);
const browser = await launch();
const { page, close } = await open(browser, resolve(file), { viewport: { width: WIDTH, height: MOST } });
const { y, height } = await page.locator("#answers").boundingBox();
await page.screenshot({ path, clip: { x: 0, y: 0, width: WIDTH, height: Math.min(MOST, Math.ceil(y + height) + 8) } });
await close();
await browser.close();
