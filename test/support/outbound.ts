/** The targets of requests over a client and a producer of the test. */
import type { HttpClient, OutboundHealth } from '../../src/core/ports/http-client-port.ts'
import type { RecordProducer } from '../../src/core/ports/record-producer.ts'
import { type OutboundTargets, openTargets } from '../../src/outbound/targets.ts'
import { guards } from './guards.ts'
import { readTestSettings } from './service.ts'
import { silent } from './silent.ts'

const HEALTHY: OutboundHealth = { open: [], opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }

export const openTestTargets = (http: HttpClient, producer: RecordProducer): OutboundTargets =>
  openTargets({
    http: { send: http.send.bind(http), close: http.close, health: () => HEALTHY },
    producer,
    settings: readTestSettings({}),
    egress: guards.egress,
    logger: silent,
  })
