/**
 * Does something once a response has been sent, which for a stream is later than when it was made.
 *
 * @module
 */

/** The response, with `done` called once: now, or when its stream ends or is broken off. */
export function afterwards(response: Response, done: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null || !headers.get("content-type")?.startsWith("text/event-stream")) {
    done();
    return response;
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done: isDone } = await reader.read();
        if (value !== undefined) controller.enqueue(value);
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
