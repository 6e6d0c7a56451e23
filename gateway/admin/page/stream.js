// Reads the stream of server-sent events. EventSource could not send the token, so that this reads a
// response of fetch(), and goes on where it was when the stream is lost.

const again = 1000;
const silence = 5000;

// An answer that is no stream, with its reason.
class Refusal extends Error {}

// Waits for what the gateway sends, and aborts the request if that takes too long.
async function within(abort, promise) {
  const timer = setTimeout(() => abort.abort(), silence);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

export class Stream {
  #token = '';
  #last = '';
  #abort = new AbortController();
  #onEvents;
  #onState;

  // Calls onEvents(events), and onState(state, token) with "live", "lost" or "refused: REASON". The
  // token is that of the request if it was the token that was refused, or that is in use.
  constructor(onEvents, onState) {
    this.#onEvents = onEvents;
    this.#onState = onState;
    this.#run();
  }

  // Asks anew, with the token or without one, for everything that the other audience has not seen.
  use(token) {
    this.#token = token;
    this.#last = '';
    this.#abort.abort();
  }

  async #run() {
    for (;;) {
      this.#abort = new AbortController();
      const token = this.#token;
      let state = 'lost';
      try {
        await this.#read(this.#abort);
      } catch (problem) {
        // Any other is that the stream was lost, or is asked for anew.
        if (problem instanceof Refusal) state = problem.message;
      }
      if (token === this.#token) {
        this.#onState(state);
        await new Promise((go) => setTimeout(go, again));
      }
    }
  }

  async #read(abort) {
    const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    if (this.#last) headers['Last-Event-ID'] = this.#last;
    const token = this.#token;
    const answer = await within(abort, fetch('v1/stream', { headers, signal: abort.signal, cache: 'no-store' }));
    if (!answer.ok) {
      const problem = await answer.json().catch(() => ({}));
      const state = `refused: ${problem.detail ?? answer.status}`;
      if (token && token === this.#token && (answer.status === 401 || answer.status === 403)) {
        this.use('');
        this.#onState(state, token);
      }
      throw new Refusal(state);
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await within(abort, reader.read());
      if (done) return;
      text += value;
      const events = text.split('\n\n');
      text = events.pop();
      this.#events(events, token);
    }
  }

  #events(events, token) {
    const parsed = [];
    for (const lines of events) {
      const data = /^data: (.*)$/m.exec(lines);
      const id = /^id: (.*)$/m.exec(lines);
      if (data) parsed.push(JSON.parse(data[1]));
      if (id) this.#last = id[1];
    }
    if (parsed.length > 0 && token === this.#token) {
      this.#onEvents(parsed);
      this.#onState('live', token);
    }
  }
}
