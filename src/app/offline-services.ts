/** Services for compiling documents where there is no service: nothing is sent, stored or looked up. */
import { createEgressPolicy } from '../core/egress/egress-policy.ts'
import type { Services } from '../pipeline/services.ts'
import type { Settings } from '../settings/settings.ts'

/**
 * The lints of documents that are compiled with these are those of a service with these settings, except that every secret
 * counts as there: the machine that checks a document is rarely the one that runs it. Each call rejects.
 */
export function createOfflineServices(settings: Settings): Services {
  const refuse = () => Promise.reject(new Error('A document that is only checked reached out.'))
  return {
    http: { send: refuse, close: async () => {} },
    states: { newest: refuse, append: refuse },
    producer: { produce: refuse },
    secrets: { resolve: (text) => text },
    egress: createEgressPolicy(settings),
    tokens: { verify: refuse },
    idempotency: { process: refuse, stop: () => undefined },
  }
}
