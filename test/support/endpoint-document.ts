/** Documents of endpoints and JSON requests, for tests that need no service in their own process. */
import type { Json, JsonObject } from '../../src/core/json.ts'

let serial = 0

/** A document with a unique name, a JSON to JSON transformation and POST, unless `changes` say otherwise. */
export function endpointDocument(changes: JsonObject): JsonObject {
  serial += 1
  return { name: `endpoint ${serial}`, transformation: { input: 'JSON', output: 'JSON' }, ...changes }
}

export const json = (method: string, body: Json | undefined, headers: Record<string, string> = {}): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
})
