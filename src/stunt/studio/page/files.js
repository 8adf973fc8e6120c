// Files: saving without losing anything, other names, going back, unsaved work, what somebody else did to the file.

import { ask, dismiss, show } from "./dialogs.js";
import { $, el, menu, notice, toast } from "./tools.js";

export class Files {
  constructor(studio) {
    this.studio = studio;
    $("file").onclick = () => menu($("file"), [
      ["Save", () => this.save()], ["Save as …", () => this.saveAs()], ["Rename …", () => this.rename()],
      ["Revert to the saved script", () => this.revert()], ["Unsaved work …", () => this.unsaved()],
    ]);
    studio.line.on("leaving", (wish) => this.leaving(wish));
    studio.line.on("stayed", () => dismiss("leaving"));
    studio.line.on("stays", () => {
      dismiss("others");
      toast("the other page stays here", true);
    });
  }

  // The document's state on disk, as strips over the page.
  documentIs({ name, outside, unkept, opened }) {
    const button = (id, text, act) => el("button", { id, textContent: text, onclick: act });
    notice("outside", outside && el("span", { textContent: outside === "gone" ? `${name} is no longer there; what you see here is all there is.`
      : `${name} was changed outside the studio.` }),
    ...(outside === "gone" ? [button("outside-save", "Save it again", () => this.save())]
      : [button("outside-compare", "Compare", () => this.compare()), button("outside-reload", "Reload", () => this.reload()),
        button("outside-mine", "Keep mine", () => this.studio.do("keep_mine"))]));
    notice("unkept", unkept && el("span", { textContent: `Your edits are not on disk: ${unkept} Save them elsewhere before you close this.` }),
      button("unkept-save", "Save as …", () => this.saveAs()));
    if (opened !== this.opened) {
      this.opened = opened;
      dismiss("others");
      dismiss("leaving");
    }
  }

  async save(more = {}) {
    const { studio } = this;
    if (!(await studio.pose.settled("Save the script"))) return false;
    let answer;
    try {
      answer = await studio.ordered("save", more);
    } catch (error) {
      const choice = await ask("Not saved", [el("p", { textContent: error.message }), el("p", { className: "dim", textContent: "Nothing is lost: the file is as it was, and your edits are here." })],
        [["", "Close"], ["as", "Save as …", true]]);
      return choice === "as" ? this.saveAs() : false;
    }
    const next = await this.answered(answer, more);
    if (next === undefined) {
      toast(`saved as ${answer.path}`);
      return true;
    }
    return next ? this.save(next) : false;
  }

  // What Save asks back; returns how to go on, null for not at all, undefined if there was no question.
  async answered(answer, more) {
    const name = more.name ?? this.studio.name;
    if (answer.asks === "touches") {
      const what = answer.count === 1 ? "1 thing done by hand is" : `${answer.count} things done by hand are`;
      const choice = await ask("Save what your hand did?", [el("p", { textContent: `${what} not in the script yet. The file plays them only if they are kept in it.` })],
        [["", "Cancel"], ["leave", "Save without"], ["keep", "Keep and save", true]]);
      return choice ? { ...more, touches: choice } : null;
    }
    if (answer.asks === "changed") {
      const choice = await ask(`${name} was changed outside`, [el("p", { textContent: "The file holds something that was not read here. Saving writes over it." })],
        [["", "Cancel"], ["compare", "Compare"], ["reload", "Reload"], ["over", "Write over it"]]);
      if (choice === "compare") await this.compare();
      if (choice === "reload") await this.reload();
      return choice === "over" ? { ...more, over: true } : null;
    }
    if (answer.asks === "there") {
      const choice = await ask(`Replace ${name}?`, [el("p", { textContent: `${answer.words[0].toUpperCase()}${answer.words.slice(1)} Saving replaces it.` })],
        [["", "Cancel"], ["another", "Another name …"], ["over", "Replace it"]]);
      if (choice === "another") this.saveAs();
      return choice === "over" ? { ...more, over: true } : null;
    }
    return undefined;
  }

  async saveAs() {
    const name = await this.named("Save as", "Save", true);
    return name ? this.save(name) : false;
  }

  async rename() {
    const found = await this.named("Rename", "Rename", false);
    if (found && found.name !== this.studio.name) {
      const done = await this.studio.do("rename", { name: found.name });
      if (done) toast(`now called ${found.name}`);
    }
  }

  // Asks for a file name (and a folder); the ending is added where it is missing.
  async named(title, deed, places) {
    const { studio } = this;
    const name = el("input", { type: "text", id: "name-field", value: studio.name, spellcheck: false });
    const folder = el("select", { id: "folder-field" }, ...studio.folders.map((place) => el("option", { value: place, textContent: place })));
    const choice = ask(title, [
      el("label", { className: "row" }, "Name", name), places ? el("label", { className: "row" }, "Folder", folder) : null,
      el("p", { className: "dim", textContent: places ? "Clips and bodies that the script names go along into the folder." : "The file stays in its folder; takes and exports keep their names." }),
    ], [["", "Cancel"], ["yes", deed, true]]);
    name.setSelectionRange(0, name.value.replace(/\.ya?ml$/, "").length);
    if (!(await choice)) return null;
    const typed = name.value.trim();
    if (!typed) return null;
    const whole = /\.ya?ml$/.test(typed) ? typed : `${typed}.yaml`;
    return places ? { name: whole, folder: folder.value } : { name: whole };
  }

  async revert() {
    if (!(await this.studio.pose.settled("Revert"))) return;
    if (await this.studio.do("discard")) toast("back to the saved script; Undo brings your edits back");
  }

  async reload() {
    if ((await this.studio.do("reload")) !== null) toast("read again from the file; Undo brings your version back");
  }

  async compare() {
    const found = await this.studio.do("compare");
    if (!found) return;
    const kind = (line) => (/^(---|\+\+\+|@@)/.test(line) ? "dim" : line[0] === "-" ? "mine" : line[0] === "+" ? "theirs" : "");
    const text = el("pre", { className: "diff" }, ...found.lines.map((line) => el("span", { className: kind(line), textContent: `${line}\n` })));
    const choice = await ask("What differs", [el("p", { className: "dim", textContent: "− only here   + only in the file" }),
      found.lines.length ? text : el("p", { textContent: "Nothing: both say the same." })],
    [["", "Close"], ["reload", "Reload the file"], ["mine", "Keep mine", true]]);
    if (choice === "reload") await this.reload();
    if (choice === "mine") await this.studio.do("keep_mine");
  }

  async unsaved() {
    const found = (await this.studio.do("unsaved")) ?? [];
    const row = (entry) => el("tr", {},
      el("td", {}, el("b", { textContent: entry.title }), el("div", { className: "dim", textContent: `${entry.name}${entry.saved ? "" : ", never saved"}` })),
      el("td", { className: "dim", textContent: new Date(1000 * entry.when).toLocaleString() }),
      el("td", {}, ...(entry.here ? [el("span", { className: "dim", textContent: "open now" })] : [
        el("button", { className: "open", textContent: "Open", onclick: () => { $("dialog").close(); this.open(entry.path); } }), " ",
        el("button", { className: "away", textContent: "Throw away", onclick: () => this.throwAway(entry) }),
      ])));
    show("Unsaved work", [found.length ? el("table", { className: "facts unsaved" }, ...found.map(row))
      : el("p", { textContent: "Everything here is saved." })]);
  }

  async throwAway(entry) {
    const choice = await ask(`Throw away the unsaved work on ${entry.name}?`, [el("p", { textContent: "This cannot be undone." })],
      [["", "Cancel"], ["yes", "Throw it away"]]);
    if (!choice) return;
    await this.studio.do("throw_away", { path: entry.path });
    this.unsaved();
  }

  // Opens something else, if an edited pose and the other pages let us.
  async open(name, op = "open", data = { name }) {
    const { studio } = this;
    if (!(await studio.pose.settled("Open another scene"))) return null;
    $("busy").textContent = "opening …";
    const answer = await studio.do(op, data);
    $("busy").textContent = "";
    if (answer?.asks !== "others") return answer;
    const pages = answer.pages === 1 ? "Another page shows" : `${answer.pages} other pages show`;
    const choice = await ask("Asked the other page", [el("p", { textContent: `${pages} this scene, and would go along. It is being asked.` })],
      [["", "Stay here"], ["anyway", "Open it anyway"]], "others");
    if (choice === "anyway") return studio.do(op, { ...data, anyway: true });
    if (choice === "") studio.do("unwish");
    return null;
  }

  // Another page wants to open something else.
  async leaving({ number, name }) {
    const more = this.studio.pose.edited ? " The pose you are editing is kept here until you come back." : "";
    const choice = await ask("Go along?", [el("p", { textContent: `Another page of this studio wants to open ${name}; this page would show it too. Unsaved edits are kept.${more}` })],
      [["", "Stay here"], ["go", "Go along", true]], "leaving");
    if (choice !== undefined) this.studio.do("leave", { number, go: choice === "go" });
  }
}
