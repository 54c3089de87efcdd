/**
 * A TCP proxy on loopback that fails when it is told to.
 *
 * @module
 */

/** A proxy to a port that can be changed. */
export class TcpProxy implements AsyncDisposable {
  /** How many connections were cut. */
  cuts = 0;
  #target: number;
  #listener: Deno.TcpListener;
  readonly #links = new Set<Deno.TcpConn>();
  readonly #tasks = new Set<Promise<void>>();
  #repliesToCut = 0;
  #isLast = false;
  #isSilent = false;

  constructor(target: number) {
    this.#target = target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#keep(this.#accept(this.#listener));
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** Cuts the connection over which the next reply comes, in place of that reply: the request was carried out. */
  cutNextReply(): void {
    this.#repliesToCut++;
  }

  /** The same, and from then on it lets nobody in. */
  endWithNextReply(): void {
    this.#isLast = true;
    this.#repliesToCut++;
  }

  /** Lets nothing through any more, with all connections open. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Cuts all connections; new ones go to another port. Port 0 refuses them. */
  retarget(port: number): void {
    this.#target = port;
    this.#isLast = false;
    this.#isSilent = false;
    this.cut();
  }

  /** Cuts all connections. */
  cut(): void {
    for (const link of this.#links) close(link);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.cut();
    await Promise.all(this.#tasks);
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    try {
      for await (const client of listener) this.#keep(this.#serve(client));
    } catch {
      // closed
    }
  }

  async #serve(client: Deno.TcpConn): Promise<void> {
    this.#links.add(client);
    let server: Deno.TcpConn | undefined;
    try {
      if (this.#target === 0) return;
      server = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      this.#links.add(server);
      await Promise.all([this.#pump(client, server, false), this.#pump(server, client, true)]);
    } catch {
      // the other side is gone
    } finally {
      for (const link of [client, server]) {
        if (link === undefined) continue;
        this.#links.delete(link);
        close(link);
      }
    }
  }

  async #pump(from: Deno.TcpConn, to: Deno.TcpConn, isReply: boolean): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const size = await from.read(buffer);
        if (size === null) return;
        if (this.#isSilent) continue;
        if (isReply && this.#repliesToCut > 0) {
          this.#repliesToCut--;
          this.cuts++;
          if (this.#isLast) this.retarget(0);
          return;
        }
        for (let sent = 0; sent < size;) sent += await to.write(buffer.subarray(sent, size));
      }
    } catch {
      // cut
    } finally {
      close(from);
      close(to);
    }
  }

  #keep(task: Promise<void>): void {
    this.#tasks.add(task);
    task.finally(() => this.#tasks.delete(task));
  }
}

function close(link: Deno.TcpConn): void {
  try {
    link.close();
  } catch {
    // closed already
  }
}
