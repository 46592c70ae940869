// Tells what is at the pointer, and copies its command at a click.

// The farthest point of a line, and the farthest sample, that a pointer means, in pixels.
const REACH = 20;

// A mark or bar at the pointer, or else the nearest corner of a line or sample.
function pointed(plot, event) {
  const mark = event.target.closest("[data-point]");
  if (mark) return ofKey(plot.subject, keyOf(mark.dataset.point));
  const { found, distance } = nearest(candidates(plot, event));
  return distance < REACH ? found() : undefined;
}

function ofKey(subject, key) {
  return { row: subject.row(key), lines: subject.lines(key) };
}

function nearest(all) {
  return all.reduce((one, other) => (other.distance < one.distance ? other : one), { distance: Infinity });
}

function candidates({ subject, drawings }, event) {
  const shown = drawings.filter(({ svg }) => isVisible(svg));
  const corners = shown.flatMap(({ paths }) => paths.filter(({ node, isBand }) => !isBand && isVisible(node)));
  const dots = shown.flatMap(({ svg }) => [...svg.querySelectorAll(".wb-row:not(.left-out) :is(.wb-dots, .wb-crosses)")]);
  return [
    ...corners.flatMap(({ node, kept }) => distances(node, event, kept.map(({ place, key }) => [place, () => ofKey(subject, key)]))),
    ...dots.flatMap((node) => distances(node, event, samplesOf(node, subject))),
  ];
}

// Each mark of a path of samples begins with `M` and its place. A cross has two more parts. Without their numbers, the
// samples are the first ones.
function samplesOf(path, subject) {
  const row = subject.row(keyOf(path.parentElement.dataset.dots));
  const numbers = path.dataset.samples?.split(" ");
  const places = path.getAttribute("d").match(/M[-\d.]+,[-\d.]+/g);
  return places.map((place, index) => [place.slice(1), () => ({ row, lines: sampleLines(cases[row], Number(numbers?.[index] ?? index)) })]);
}

// From the pointer to places in a node, in pixels of the screen.
function distances(node, { clientX, clientY }, places) {
  const { a, b, c, d, e, f } = node.getScreenCTM();
  return places.map(([place, found]) => {
    const [x, y] = place.split(",").map(Number);
    return { found, distance: Math.hypot(a * x + c * y + e - clientX, b * x + d * y + f - clientY) };
  });
}

function explain(plot) {
  const { host } = plot;
  host.addEventListener("pointermove", (event) => showTip(pointed(plot, event), event));
  host.addEventListener("pointerleave", hideTip);
  host.addEventListener("click", (event) => {
    const found = pointed(plot, event);
    showTip(found, event);
    if (found) copyCommand(cases[found.row]);
  });
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

function showTip(found, { clientX, clientY, currentTarget }) {
  currentTarget.classList.toggle("pointed", found !== undefined);
  if (!found) return hideTip();
  const tip = document.getElementById("tip");
  tip.replaceChildren(...found.lines.map((line) => element("div", {}, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  // Beside the pointer, where there is space for it.
  const left = clientX + 14 + width < innerWidth ? clientX + 14 : Math.max(4, clientX - 14 - width);
  const top = Math.max(4, Math.min(clientY + 14, innerHeight - height - 4));
  styled(tip, { left: `${left}px`, top: `${top}px` });
}

function buildTip() {
  addEventListener("scroll", hideTip, { passive: true });
  addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
}
