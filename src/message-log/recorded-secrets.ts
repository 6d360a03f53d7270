/**
 * Takes the values of secrets out of what is kept: those that the document refers to, and those of secret headers, which are
 * never stored as headers, but an endpoint may map them, and without a mapping the headers of lookups are part of the output.
 */
import type { MessageRecord } from '../domain/message-record.ts'
import { formsOf } from '../domain/secrets/secrets.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import { MASKED } from './redaction.ts'

/** Shorter ones stand in bodies by chance, and are no secrets. */
const SHORTEST = 6

/** A JSON Web Token: what it is, is seen from its first letters, whatever the header or parameter that holds it is named. */
const TOKEN = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g

/** Whether a header holds a token, and so is a credential. */
export const holdsToken = (value: string | readonly string[]): boolean =>
  [value].flat().some((one) => tokensIn(one).length > 0)

const tokensIn = (text: string): readonly string[] => text.match(TOKEN) ?? []

/** The secret values of a message, each in the forms that a body may have it in. `secretHeaders`: lower-case names. */
export function secretsOf(
  { incoming, trace }: CompletedMessage,
  secretHeaders: ReadonlySet<string>,
): readonly string[] {
  const values = new Set<string>()
  const collect = (headers: Readonly<Record<string, string | readonly string[]>>): void => {
    for (const name of secretHeaders) for (const value of [headers[name] ?? []].flat()) note(value, values)
  }
  if (incoming !== undefined) {
    collect(incoming.requestHeaders)
    // In a body a token may be what the message is about; beside it, it says who sends.
    const beside = [...Object.values(incoming.requestHeaders), ...Object.values(incoming.query)].flat()
    for (const one of beside) if (typeof one === 'string') for (const token of tokensIn(one)) values.add(token)
  }
  for (const { answer } of trace?.calls ?? []) if (answer !== undefined) collect(answer.headers)
  for (const value of trace?.secrets?.keys() ?? []) for (const form of formsOf(value)) values.add(form)
  return [...values].sort((one, other) => other.length - one.length)
}

/** A credential may be used without its scheme, a cookie without its attributes. */
function note(value: string, values: Set<string>): void {
  const parts = [value, value.slice(value.indexOf(' ') + 1), value.split(';', 1)[0] ?? '']
  for (const part of parts.filter(({ length }) => length >= SHORTEST)) {
    values.add(part)
    values.add(JSON.stringify(part).slice(1, -1))
    values.add(part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'))
  }
}

/** The same bytes where none of the values is in them. */
export function withoutSecrets(content: Uint8Array, secrets: readonly string[]): Uint8Array {
  if (secrets.length === 0) return content
  // One character a byte, as headers are read: whatever the bytes mean, the others stay as they are.
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1')
  const changed = withoutSecretsIn(text, secrets)
  return changed === text ? content : Buffer.from(changed, 'latin1')
}

export const withoutSecretsIn = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, MASKED), text)

/** A key that is a secret says nothing but that there was one. */
export function withoutSecretsInKeys(keys: MessageRecord['keys'], secrets: readonly string[]): MessageRecord['keys'] {
  if (secrets.length === 0) return keys
  const without = (value: string) => withoutSecretsIn(value, secrets)
  return Object.fromEntries(
    Object.entries(keys).map(([name, value]) => [
      name,
      typeof value === 'string' ? without(value) : value.map(without),
    ]),
  )
}
