// The wire to the server: a WebSocket that comes back by itself, with the newest request of each kind kept for then.

const FIRST = 300;
const LONGEST = 5000;
const REFUSED = 4401;

export class Link {
  // `hear` gets every answer, `state` a word: "open", "lost", "refused".
  constructor(token, hear, state) {
    Object.assign(this, { token, hear, state, wait: FIRST, number: 0 });
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/live`, ["pfaff", this.token]);
    this.socket = socket;
    socket.onopen = () => { this.wait = FIRST; };
    socket.onmessage = (event) => {
      if (!this.greeted) { this.greeted = true; this.state("open"); }
      this.hear(JSON.parse(event.data));
    };
    socket.onclose = (event) => {
      this.greeted = false;
      if (event.code === REFUSED) { this.state("refused"); this.wait = LONGEST; } else this.state("lost", this.wait);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST);
    };
    socket.addEventListener("open", () => this.state("connected"));
  }

  // What cannot be sent now is not lost: the view is sent again on opening.
  send(kind, fields = {}) {
    this.number += 1;
    if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ kind, id: this.number, ...fields }));
    }
    return this.number;
  }
}
