// The page's line to the studio: words as JSON, pictures in binary. Comes back by itself after a break.

export class Line {
  constructor() {
    this.listeners = {};
    this.waiting = new Map();
    this.number = 0;
    this.open();
  }

  open() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.hear(JSON.parse(data));
      else this.emit("pose", new Float32Array(data));
    };
    this.socket.onopen = () => {
      this.tries = 0;
      this.emit("line", { open: true });
    };
    this.socket.onclose = () => {
      for (const { no } of this.waiting.values()) no(new Error("the studio is gone"));
      this.waiting.clear();
      this.emit("line", { open: false });
      this.again();
    };
  }

  // Comes back, ever more slowly; not to another studio that has taken the place of ours, where our address means nothing.
  async again() {
    this.tries = (this.tries ?? 0) + 1;
    await new Promise((done) => setTimeout(done, Math.min(1000 * this.tries, 5000)));
    const answer = this.tries > 1 ? await fetch(location.href, { method: "GET" }).catch(() => null) : null;
    if (answer?.status === 403) this.emit("line", { open: false, ended: true });
    else if (this.tries > 1 && !answer) this.again();
    else this.open();
  }

  on(kind, listener) {
    (this.listeners[kind] ??= []).push(listener);
  }

  emit(kind, data) {
    for (const listener of this.listeners[kind] ?? []) listener(data);
  }

  hear(message) {
    if (message.kind !== "reply") return this.emit(message.kind, message);
    const asked = this.waiting.get(message.number);
    this.waiting.delete(message.number);
    if (message.error) {
      if (asked) asked.no(new Error(message.error));
      else this.emit("refused", message);
    } else asked?.yes(message.data);
  }

  say(op, data = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ op, data }));
  }

  ask(op, data = {}) {
    return new Promise((yes, no) => {
      if (this.socket.readyState !== WebSocket.OPEN) return no(new Error("the studio is gone"));
      const number = ++this.number;
      this.waiting.set(number, { yes, no });
      this.socket.send(JSON.stringify({ op, number, data }));
    });
  }

  // A question to the stage itself: curves, a trail, a pose, angles.
  askStage(op, data = {}) {
    return this.ask("ask", { op, ...data });
  }
}
