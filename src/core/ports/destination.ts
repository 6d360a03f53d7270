/** Where the requests of documents go, and what they carry. */
import type { OutboundRequest } from './http-client-port.ts'

/** Where a request of a document goes, the same for each message. */
export type Destination = Readonly<{
  /** The name of its row. */
  target: string
  /** What its own field names, such as a topic; empty if it goes to a URL. */
  address: string
  options: Pick<OutboundRequest, 'retries' | 'redirects' | 'staysOnOrigin' | 'idempotent' | 'originName'>
  cache?: CacheRule
}>

/** Which answers of a lookup are kept, and for how long. */
export type CacheRule = Readonly<{
  freshMs: number
  /** How much longer an answer stands in while the target fails. */
  staleMs: number
  allows(status: number): boolean
}>

export type Body = Readonly<{ content: string | Uint8Array; contentType: string }>
