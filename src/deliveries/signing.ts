/** Signatures of Standard Webhooks 1.0 (https://www.standardwebhooks.com), by which a target knows who sent a delivery. */
import { createHmac } from 'node:crypto'
import { Failure } from '../core/failure.ts'

const PREFIX = 'whsec_'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** What is signed: `id` is the same at each attempt. */
type Signed = Readonly<{
  id: string
  /** Milliseconds since the epoch. */
  nowMs: number
  body: Uint8Array | undefined
}>

/**
 * In: secrets, newest first, `whsec_` and Base64 or any other text. Out: the headers `webhook-id`, `webhook-timestamp` and
 * `webhook-signature`, with a signature of each secret. Fails with SECRET_UNAVAILABLE.
 */
export function signatureHeaders(secrets: readonly string[], { id, nowMs, body }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const sign = (secret: string): string => {
    const hmac = createHmac('sha256', readKey(secret)).update(`${id}.${timestamp}.`)
    return `v1,${hmac.update(body ?? '').digest('base64')}`
  }
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  }
}

function readKey(secret: string): Uint8Array {
  if (!secret.startsWith(PREFIX)) return Buffer.from(secret)
  const text = secret.slice(PREFIX.length)
  if (BASE64.test(text)) return Buffer.from(text, 'base64')
  throw new Failure('SECRET_UNAVAILABLE', 'A secret to sign with starts with "whsec_" but has no Base64 behind it.', {
    path: 'delivery.sign.secret',
  })
}
