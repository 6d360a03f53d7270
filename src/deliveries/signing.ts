/** The signature of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks, specification 1.0.0). */
import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

export type SignedContent = Readonly<{
  /** The same for each attempt, so that the receiver finds repetitions. */
  id: string
  /** Milliseconds since the epoch; the receiver refuses what is minutes old. */
  atMs: number
  body: string | Uint8Array
}>

/**
 * In: the secrets, newest first; one that begins with `whsec_` is Base64 after that, any other is its own UTF-8 bytes. Out: the
 * three headers, with a signature for each secret.
 */
export function signatureHeaders({ id, atMs, body }: SignedContent, secrets: readonly string[]) {
  const timestamp = String(Math.floor(atMs / 1000))
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body)
    return `v1,${hmac.digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret)
