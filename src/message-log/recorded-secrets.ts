/**
 * Takes the values of secrets out of records: those that the document refers to, and those of secret headers. Such headers
 * are never recorded, but an endpoint may map them, and without a mapping the headers of lookups are part of the output.
 */
import type { MessageRecord } from '../domain/records/message-record.ts'
import { formsOf } from '../domain/secrets/secrets.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import { changeKeys } from './business-keys.ts'
import { REDACTED } from './redaction.ts'

/** Shorter values stand in bodies by chance. */
const SHORTEST_SECRET = 6

/** A JSON Web Token: its first letters show it, whatever the name of its header or parameter. */
const TOKEN = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g

/** Whether a header holds a JSON Web Token, and so is a credential. */
export const holdsToken = (value: string | readonly string[]): boolean =>
  [value].flat().some((one) => tokensIn(one).length > 0)

const tokensIn = (text: string): readonly string[] => text.match(TOKEN) ?? []

/** The secret values of a message in all forms in which a body may hold them. `secretHeaders`: lower-case names. */
export function secretsOf(
  { incoming, trace }: CompletedMessage,
  secretHeaders: ReadonlySet<string>,
): readonly string[] {
  const values = new Set<string>()
  const collect = (headers: Readonly<Record<string, string | readonly string[]>>): void => {
    for (const name of secretHeaders) for (const value of [headers[name] ?? []].flat()) addForms(value, values)
  }
  if (incoming !== undefined) {
    collect(incoming.requestHeaders)
    // A token in a body may be the content of the message; in a header or the query it is a credential.
    const beside = [...Object.values(incoming.requestHeaders), ...Object.values(incoming.query)].flat()
    for (const one of beside) if (typeof one === 'string') for (const token of tokensIn(one)) values.add(token)
  }
  for (const { answer } of trace?.calls ?? []) if (answer !== undefined) collect(answer.headers)
  for (const value of trace?.secrets?.keys() ?? []) for (const form of formsOf(value)) values.add(form)
  return [...values].sort((one, other) => other.length - one.length)
}

/** A mapping may use a credential without its scheme, and a cookie without its attributes. */
function addForms(value: string, values: Set<string>): void {
  const parts = [value, value.slice(value.indexOf(' ') + 1), value.split(';', 1)[0] ?? '']
  for (const part of parts.filter(({ length }) => length >= SHORTEST_SECRET)) {
    values.add(part)
    values.add(JSON.stringify(part).slice(1, -1))
    values.add(part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'))
  }
}

/** Gives the same bytes if they hold none of the secrets. */
export function withoutSecrets(content: Uint8Array, secrets: readonly string[]): Uint8Array {
  if (secrets.length === 0) return content
  // One character a byte, as headers are read: all other bytes stay as they are.
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1')
  const changed = withoutSecretsIn(text, secrets)
  return changed === text ? content : Buffer.from(changed, 'latin1')
}

export const withoutSecretsIn = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, REDACTED), text)

export const withoutSecretsInKeys = (keys: MessageRecord['keys'], secrets: readonly string[]): MessageRecord['keys'] =>
  secrets.length === 0 ? keys : changeKeys(keys, (value) => withoutSecretsIn(value, secrets))
