/**
 * Does something once a response has been sent, which for a stream is later than when it was made.
 *
 * @module
 */

/**
 * The response, with `done` called once: now, or when its stream ends or is broken off. `sent` is called as each part of a
 * stream goes out.
 */
export function afterwards(response: Response, done: () => void, sent: () => void = () => {}): Response {
  const { body, status, statusText, headers } = response;
  if (body === null || !isStream(response)) {
    done();
    return response;
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done: isDone } = await reader.read();
        if (value !== undefined) controller.enqueue(value);
        sent();
        if (!isDone) return;
        done();
        controller.close();
      } catch (error) {
        done();
        controller.error(error);
      }
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  return new Response(watched, { status, statusText, headers });
}

/** Whether a response goes on for as long as it likes. */
export function isStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}
