/**
 * Puts a short marker in the place of `data:` URIs: their bytes tell a model nothing and cost it a lot.
 *
 * @module
 */

import { isArray, isObject, type JsonValue } from "../document/json.ts";

const MEDIA_TYPE_SHOWN = 18;
/** A text that is one data URI (RFC 2397). */
const WHOLE = /^data:([\w!#$&^.+*-]*(?:\/[\w!#$&^.+*-]*)?)(?:;[^,;]*)*,/i;
/** Data URIs in a longer text. No part can match what the next one begins with, so the time taken is linear. */
const EMBEDDED = /data:([\w.+*-]*(?:\/[\w.+*-]*)?)(?:;[\w.=+-]*)*;base64,[\w+/=%-]+/gi;

/** The value with a marker for each data URI. What holds none is the same object as before. */
export function redact(value: JsonValue): JsonValue {
  if (typeof value === "string") return redactText(value);
  if (isArray(value)) {
    let changed = false;
    const items = value.map((item) => {
      const redacted = redact(item);
      changed ||= redacted !== item;
      return redacted;
    });
    return changed ? items : value;
  }
  if (!isObject(value)) return value;
  let changed = false;
  const members = Object.keys(value).map((key): [string, JsonValue] => {
    const redacted = redact(value[key]);
    changed ||= redacted !== value[key];
    return [key, redacted];
  });
  return changed ? Object.fromEntries(members) : value;
}

/** The same for a text. */
export function redactText(text: string): string {
  if (!/data:/i.test(text)) return text;
  const whole = WHOLE.exec(text);
  if (whole !== null) return marker(whole[1], text.length);
  return text.replace(EMBEDDED, (uri, mediaType: string) => marker(mediaType, uri.length));
}

/** At most 40 characters, so that a shape shows it. */
function marker(mediaType: string, length: number): string {
  const type = mediaType.length > MEDIA_TYPE_SHOWN ? `${mediaType.slice(0, MEDIA_TYPE_SHOWN - 1)}…` : mediaType;
  return `<data:${type || "text/plain"} ${length} chars>`;
}
