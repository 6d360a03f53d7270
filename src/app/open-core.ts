/** A client of the API of an OpenHIM core. */

import { type CoreClientOptions, createCoreClient } from '../openhim/core-client.ts'
import type { OpenhimCore } from '../openhim/core-port.ts'
import { createHttpClient } from '../outbound/http/http-client.ts'
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
