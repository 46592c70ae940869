// A case needs a chosen value of each property, and all words in its name.

const PROPERTIES = [
  ["run", "Run"],
  ["suite", "Suite"],
  ["method", "Method"],
  ["prepare", "Prepare"],
  ["target", "Target"],
  ["filesystem", "Filesystem"],
  ["outcome", "Outcome"],
];

const filters = { left: new Map(), words: "", shown: [], listeners: [] };

function isShown(entry) {
  for (const [property, left] of filters.left) if (left.has(entry[property])) return false;
  return filters.words === "" || filters.words.split(" ").every((word) => entry.searched.includes(word));
}

function applyFilters() {
  filters.shown = cases.map(isShown);
  const count = filters.shown.filter(Boolean).length;
  document.getElementById("shown").textContent =
    count === cases.length ? `all ${counted(count, "case")}` : `${count.toLocaleString("en")} of ${counted(cases.length, "case")}`;
  filters.listeners.forEach((listener) => listener());
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function choice(property, value, count) {
  const box = element("input", { type: "checkbox", name: property, value });
  box.checked = true;
  box.addEventListener("change", () => {
    const left = filters.left.get(property) ?? new Set();
    if (box.checked) left.delete(value);
    else left.add(value);
    if (left.size > 0) filters.left.set(property, left);
    else filters.left.delete(property);
    applyFilters();
  });
  return element("label", {}, box, ` ${value === "" ? "(none)" : value} `, element("span", { class: "quiet" }, `${count}`));
}

function fieldsets(property, legend) {
  const counts = new Map();
  for (const entry of cases) counts.set(entry[property], (counts.get(entry[property]) ?? 0) + 1);
  if (counts.size < 2) return [];
  const set = element("fieldset", { "data-property": property }, element("legend", {}, legend));
  if (counts.size > 2) {
    const only = (checked) => () => {
      set.querySelectorAll("input").forEach((box) => (box.checked = checked));
      if (checked) filters.left.delete(property);
      else filters.left.set(property, new Set(counts.keys()));
      applyFilters();
    };
    for (const [text, checked] of [["all", true], ["none", false]]) {
      const button = element("button", { type: "button", class: "plain" }, text, element("span", { class: "hidden" }, ` of ${legend}`));
      button.addEventListener("click", only(checked));
      set.append(button, " ");
    }
  }
  for (const [value, count] of counts) set.append(choice(property, value, count));
  return [set];
}

function buildFilters() {
  const choices = document.getElementById("choices");
  const search = element("input", { type: "search", id: "words", autocomplete: "off", placeholder: "mmap chunk=64KiB" });
  search.addEventListener("input", () => {
    filters.words = search.value.trim().toLowerCase();
    applyFilters();
  });
  const reset = element("button", { type: "button", class: "plain", id: "reset" }, "Show all");
  reset.addEventListener("click", () => {
    filters.left.clear();
    filters.words = search.value = "";
    choices.querySelectorAll("input[type=checkbox]").forEach((box) => (box.checked = true));
    applyFilters();
  });
  choices.append(
    element("fieldset", {}, element("legend", {}, "Case"), element("label", { for: "words" }, "Words of its name "), search),
    ...PROPERTIES.flatMap(([property, legend]) => fieldsets(property, legend)),
    reset,
  );
  document.getElementById("filters").hidden = false;
}
