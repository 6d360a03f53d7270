/** A client of the API of an OpenHIM core. */
import { createHttpClient } from '../adapters/http-client/http-client.ts'
import { type CoreClientOptions, createCoreClient } from '../adapters/openhim/core-client.ts'
import type { OpenhimCore } from '../domain/openhim/core-port.ts'
import type { Settings } from '../settings/settings.ts'

export type CoreOptions = Omit<CoreClientOptions, 'http'> &
  Pick<Settings, 'openhimTrustSelfSigned'> &
  Readonly<{ answerLimitBytes: number }>

const CONNECT_TIMEOUT_MS = 2_000

/** With an HTTP client of its own: the egress rules are for targets of documents, and the certificates of these stay checked. */
export function openCore({ answerLimitBytes, openhimTrustSelfSigned, ...options }: CoreOptions): OpenhimCore {
  const http = createHttpClient({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    answerLimitBytes,
    acceptAnyCertificate: openhimTrustSelfSigned,
  })
  return createCoreClient({ ...options, http })
}
