// Copies a case's command or code.

let saidUntil;

const copyCommand = (entry) => copyText(entry.command, entry.command);

async function copyText(text, name) {
  const done = await copied(text);
  const said = document.getElementById("copied");
  said.textContent = done ? `Copied: ${name}` : `Copy it by hand: ${name}`;
  clearTimeout(saidUntil);
  saidUntil = setTimeout(() => (said.textContent = ""), done ? 4000 : 30000);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedFromField(text);
  }
}

// Without encryption, browsers copy only a selected field.
function copiedFromField(text) {
  const before = document.activeElement;
  const field = element("textarea", { class: "hidden", "aria-hidden": "true", tabindex: "-1" });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus();
  return done;
}

// Lines break at commas.
function copyButton(entry) {
  const parts = entry.case.split(/(?<=,)/).flatMap((part) => [part, element("wbr")]);
  const button = element("button", { type: "button", class: "copy case", title: `Copy: ${entry.command}` }, ...parts);
  button.addEventListener("click", () => copyCommand(entry));
  return button;
}

function buildCodeButtons() {
  for (const button of document.querySelectorAll(".copy-code")) {
    const code = button.parentElement.querySelector("pre");
    button.addEventListener("click", () => copyText(code.textContent, code.getAttribute("aria-label")));
  }
}
