/** What every object inherits: whatever comes from outside must leave it as it is. */
import assert from 'node:assert/strict'

const SHARED = [Object, Array, Function, String, Number, Boolean, Promise, Map, Set, RegExp, Error, Uint8Array]

const describeAll = (): string =>
  SHARED.map(({ name, prototype }) => `${name}: ${Reflect.ownKeys(prototype).map(String).join(' ')}`).join('\n')

const atFirst = describeAll()
const ownNames = Reflect.ownKeys(Object.prototype).length

/** Cheap enough to follow every single input, so that the one to blame is known. */
export function assertObjectsClean(): void {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  assert.equal(Reflect.ownKeys(Object.prototype).length, ownNames)
}

export function assertPrototypesUnchanged(): void {
  assertObjectsClean()
  assert.equal(describeAll(), atFirst)
}
