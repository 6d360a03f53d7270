/** What the service registers with an OpenHIM core: itself, and a channel for each endpoint. */

import type { Clock } from '../core/run.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import { segmentsOf } from '../language/route-pattern.ts'
import type { ChannelConfig, MediatorDocument, MediatorRoute } from './core-port.ts'

/** Where the core reaches the message port; the host is a name or an address without brackets. */
export type ServiceAddress = Pick<MediatorRoute, 'host' | 'port' | 'secured'>

/** What may change while a mediator runs. */
export type MediatorContent = Omit<MediatorDocument, 'urn' | 'version'>

export type DescribeOptions = Readonly<{ productVersion: string; address: ServiceAddress }>

const NAME = 'Crosswalk'

/** A role that no client of a core has by itself: adding a channel alone gives no client access to it. */
const ROLE = 'crosswalk'

export function describeMediator(
  { productVersion, address }: DescribeOptions,
  endpoints: readonly Pick<CompiledEndpoint, 'document' | 'endpoint'>[],
): MediatorContent {
  const route: MediatorRoute = { name: NAME, ...address, type: 'http' }
  return {
    name: NAME,
    description: `${NAME} ${productVersion}: maps messages between systems, with a channel for each endpoint`,
    endpoints: [route],
    defaultChannelConfig: endpoints.map(
      ({ document, endpoint }): ChannelConfig => ({
        name: document.name,
        urlPattern: urlPatternOf(endpoint.endpoint.pattern),
        methods: [endpoint.endpoint.method],
        type: 'http',
        authType: 'private',
        allow: [ROLE],
        routes: [{ ...route, primary: true }],
      }),
    ),
  }
}

/** The regular expression that matches the paths of a pattern, percent-encoded, with or without a last `/`. */
export function urlPatternOf(pattern: string): string {
  const segments = segmentsOf(pattern).map((segment) =>
    segment.startsWith(':') ? '/[^/]+' : `/${segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`,
  )
  return segments.length === 0 ? '^/$' : `^${segments.join('')}/?$`
}

/**
 * Gives versions, each greater than the one before: the time in UTC, such as `2026.1123.93005` for 2026-11-23 09:30:05. By
 * the version of the product, the core would ignore a changed set of endpoints, and everything from a service that takes
 * over the URN of a mediator with a greater version.
 */
export function createMediatorVersions(clock: Clock): () => string {
  let lastSeconds = 0
  return () => {
    lastSeconds = Math.max(Math.floor(clock() / 1_000), lastSeconds + 1)
    const at = new Date(lastSeconds * 1_000)
    const day = (at.getUTCMonth() + 1) * 100 + at.getUTCDate()
    const time = at.getUTCHours() * 10_000 + at.getUTCMinutes() * 100 + at.getUTCSeconds()
    return `${at.getUTCFullYear()}.${day}.${time}`
  }
}
