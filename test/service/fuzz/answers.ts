/** What is looked at of an answer. */
import assert from 'node:assert/strict'

export const codeOf = (text: string): unknown =>
  /"code":"([A-Z_]+)"|<code>([A-Z_]+)<\/code>/.exec(text)?.slice(1).find(Boolean)

export function assertStatus(status: number, allowed: readonly number[], text: string): void {
  assert.ok(allowed.includes(status), `${status} ${text}`)
}
