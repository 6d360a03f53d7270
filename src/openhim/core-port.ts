/** The OpenHIM core: the service registers there as a mediator, and the core routes messages to it. */
import type { Json } from '../core/json.ts'

/** A way to the service, as the core's API takes it. */
export type MediatorRoute = Readonly<{
  name: string
  host: string
  port: number
  /** With TLS. */
  secured: boolean
  type: 'http'
  /** The answer of this route is the answer of its channel. */
  primary?: true
}>

/** A channel that administrators of the core can add with one click. */
export type ChannelConfig = Readonly<{
  /** Unique in the core. */
  name: string
  /** A regular expression for the paths of requests. */
  urlPattern: string
  methods: readonly string[]
  type: 'http'
  authType: 'private'
  /** Roles of the clients that may use the channel. */
  allow: readonly string[]
  routes: readonly MediatorRoute[]
}>

export type MediatorDocument = Readonly<{
  urn: string
  /** `x.y.z`; the core ignores a document whose version is not greater than that of the one before. */
  version: string
  name: string
  description: string
  /** At least one. */
  endpoints: readonly MediatorRoute[]
  defaultChannelConfig: readonly ChannelConfig[]
}>

/** unauthorized: the user or its password is wrong; refused: the core answered, but not as its documentation says. */
const CORE_FAULTS = ['unreachable', 'unauthorized', 'refused'] as const
type CoreFaultKind = (typeof CORE_FAULTS)[number]

/** The message is one sentence without credentials. */
export class CoreFault extends Error {
  override readonly name = 'CoreFault'
  readonly kind: CoreFaultKind
  constructor(kind: CoreFaultKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** What health reports. starting: the core has not answered yet. */
export const MEDIATOR_STATES = ['starting', 'alive', ...CORE_FAULTS] as const
export type MediatorStatus = (typeof MEDIATOR_STATES)[number]

export interface OpenhimCore {
  /** Fails with CoreFault. */
  register(mediator: MediatorDocument): Promise<void>
  /** Reports that a mediator runs. Resolves to `unknown` if the core has no mediator of this name. Fails with CoreFault. */
  heartbeat(urn: string, uptimeSeconds: number): Promise<'alive' | 'unknown'>
  /**
   * A page of the transactions that the core stores.
   *
   * In: the query of `GET /transactions`. Out: the JSON of the answer. Fails with CoreFault.
   */
  transactions(query: URLSearchParams): Promise<Json>
  /** Resolves when the calls in progress are done. */
  close(): Promise<void>
}
