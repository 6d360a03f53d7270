/** Runs checks on random inputs. */
import assert from 'node:assert/strict'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

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

/** The short form runs a twentieth of each kind. */
const SHARE = LONG ? 1 : 0.05

/**
 * Runs `check` on that many inputs, of which each run takes `each`. `check` gives whether the input came past the first
 * refusal; fails where a smaller share than `deep` did, for then hardly anything was tried, and where what all objects share is changed.
 */
export async function fuzz<T>(
  { inputs, each = 1, deep = 0 }: Readonly<{ inputs: number; each?: number; deep?: number }>,
  arbitrary: fc.Arbitrary<T>,
  check: (input: T) => Promise<boolean>,
): Promise<void> {
  const numRuns = Math.round((inputs * SHARE) / each)
  let tried = 0
  let came = 0
  const property = fc.asyncProperty(arbitrary, async (input) => {
    tried += 1
    if (await check(input)) came += 1
    assertObjectsClean()
  })
  await fc.assert(property, { numRuns })
  assert.equal(tried, numRuns)
  assert.ok(came / numRuns > deep, `only ${came} of ${numRuns} inputs came past the first refusal`)
  assertPrototypesUnchanged()
}

export const codeOf = (text: string): unknown =>
  /"code":"([A-Z_]+)"|<code>([A-Z_]+)<\/code>/.exec(text)?.slice(1).find(Boolean)

export function assertStatus(status: number, allowed: readonly number[], text: string): void {
  assert.ok(allowed.includes(status), `${status} ${text}`)
}
