/** The HTTP client of lookups and response requests, as the settings say. */
import { createHttpClient, type OwnHttpClient } from '../adapters/http-client/http-client.ts'
import type { EgressPolicy } from '../domain/egress/egress-policy.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Settings } from '../settings/settings.ts'

export const openHttpClient = (settings: Settings, egress: EgressPolicy, logger: Logger): OwnHttpClient =>
  createHttpClient({
    connectTimeoutMs: settings.requestConnectTimeoutMs,
    answerLimitBytes: settings.answerLimitBytes,
    egress: { policy: egress },
    retryBudgetPercent: settings.requestRetryBudgetPercent,
    circuit: {
      failures: settings.circuitBreakerFailures,
      pauseMs: settings.circuitBreakerPauseMs,
      mostPauseMs: settings.circuitBreakerMaxPauseMs,
    },
    logger,
  })
