/** The differences between two JSON values, by path. */
import { isObject, type Json } from '../domain/json.ts'
import { pointerTo } from '../domain/lint.ts'

export type Difference = Readonly<{
  /** RFC 6901 JSON Pointer; `/status`, `/contentType`, `/body/…` and `/calls/…` are parts of what is compared. */
  path: string
  /** Undefined if the peer has nothing there. */
  peer: Json | undefined
  /** Undefined if this service has nothing there. */
  here: Json | undefined
}>

/** In the order of the peer's members. Numbers are compared by value; the order of members does not count. */
export function differencesOf(peer: Json | undefined, here: Json | undefined, path: string): readonly Difference[] {
  if (Array.isArray(peer) && Array.isArray(here)) {
    const length = Math.max(peer.length, here.length)
    return Array.from({ length }, (_, at) => differencesOf(peer[at], here[at], `${path}/${at}`)).flat()
  }
  if (isObject(peer) && isObject(here)) {
    const names = new Set([...Object.keys(peer), ...Object.keys(here)])
    return [...names].flatMap((name) => differencesOf(own(peer, name), own(here, name), pointerTo(path, name)))
  }
  return peer === here ? [] : [{ path, peer, here }]
}

export const isSame = (peer: Json | undefined, here: Json | undefined): boolean =>
  differencesOf(peer, here, '').length === 0

const own = (value: Readonly<Record<string, Json>>, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined
