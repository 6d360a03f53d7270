/** One call of the management API: who calls, what is asked for, and what the audit log gets to know of it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../core/access.ts'
import type { Json } from '../core/json.ts'
import type { Lint } from '../core/lint.ts'
import { readMethod } from '../inbound/http/replies.ts'
import type { AuditEffect, AuditEntry, ToAuditEntry } from '../store/sql/audit-store.ts'
import type { StoreAccess } from '../store/store-access.ts'
import type { AuditNote } from './access/audit-log.ts'
import type { Decision, Needed } from './access/authorise.ts'
import type { QueryTexts } from './check-call.ts'
import { readDocument, readJson } from './read-document.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call a management route. */
    needed?: Needed
    /** The status of a call that succeeds. */
    success?: number
    /** The body of the call is that of a message, so it may have the media type of any format. */
    takesMessage?: boolean
    wrongType?: string
  }
  interface FastifyRequest {
    /** Set before any other hook of a management route runs. */
    call: Call | undefined
  }
}

type CallOptions = Readonly<{
  request: FastifyRequest
  reply: FastifyReply
  authorise: () => Promise<Decision>
  toAuditEntry: (note: AuditNote) => AuditEntry
}>

export class Call<Param extends string = string, Query = unknown, Body = unknown> {
  /** Checked by the route. */
  declare readonly query: Query
  /** Checked by the route, if that says how; else the handler reads it. */
  declare readonly body: Body
  /** What is twice in the document of the body. */
  declare readonly repeated: readonly Lint[]
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly needed: Needed
  /** All accesses of the call to the store share it. */
  readonly storeAccess: StoreAccess = { lost: undefined, isOver: false }
  /** Set once the call is authorised. */
  decision: Decision | undefined
  /** What the call did, each with an entry of its own; undefined if no entry is wanted unless the call is refused. */
  effects: readonly AuditEffect[] | undefined
  /** The status of the entries that were stored with a change, or refused with it. */
  storedStatus: number | undefined
  readonly #authorise: () => Promise<Decision>
  readonly #toAuditEntry: (note: AuditNote) => AuditEntry

  constructor({ request, reply, authorise, toAuditEntry }: CallOptions) {
    this.request = request
    this.reply = reply
    this.needed = request.routeOptions.config.needed ?? (request.is404 ? 'viewer' : 'admin')
    this.effects = []
    this.#authorise = authorise
    this.#toAuditEntry = toAuditEntry
  }

  /** Fails as authorisation does; again for a call that takes long, as its key may have been revoked meanwhile. */
  async authorise(): Promise<void> {
    this.decision = await this.#authorise()
    if (this.decision.refused !== undefined) throw this.decision.refused
  }

  /** Set if the service knows the caller. */
  get caller(): Caller | undefined {
    return this.decision?.caller
  }

  /** The caller for people. */
  get callerName(): string {
    return this.caller?.name ?? this.caller?.who ?? 'unknown'
  }

  get params(): Readonly<Record<Param, string>> {
    return this.request.params as Record<Param, string>
  }

  /** Each parameter of the query with its values. */
  get queryTexts(): QueryTexts {
    const query = this.request.query as Record<string, string | string[]>
    return new Map(Object.entries(query).map(([name, value]) => [name, [value].flat()]))
  }

  get ifMatch(): string | undefined {
    return this.request.headers['if-match']
  }

  get ifNoneMatch(): string | undefined {
    return this.request.headers['if-none-match']
  }

  /** The body as the text of a JSON document. Fails with MEDIA_TYPE_WRONG, BODY_UNREADABLE. */
  text(): string {
    return readDocument(this.request)
  }

  /** The body as JSON, an empty object without one. Fails as `text` does, and with FILTER_INVALID if it has faults. */
  json(): Json {
    return readJson(this.request)
  }

  /** Reports what the call did to the audit log, which has an entry for each effect. */
  noteEffects(...effects: readonly AuditEffect[]): void {
    this.effects = effects
  }

  /**
   * For a call whose changes are stored with their entries. The call has another entry only if it is answered with another
   * status than that of success.
   */
  get toChangeEntry(): ToAuditEntry {
    return this.changeEntryOf(() => this.request.routeOptions.config.success ?? 200)
  }

  /** The same where the status of success is known when the change is made. */
  changeEntryOf(readStatus: () => number): ToAuditEntry {
    return (effect) => {
      const status = readStatus()
      this.storedStatus = status
      return this.#toAuditEntry(this.note(effect, status))
    }
  }

  note(effect: AuditEffect, status: number): AuditNote {
    const { remoteAddress } = this.request.socket
    const { caller } = this
    const target = parseTarget(this.request.params)
    return {
      who: caller?.who ?? 'unknown',
      ...(caller?.name === undefined ? {} : { name: caller.name }),
      ...(remoteAddress === undefined ? {} : { address: remoteAddress }),
      what: `${readMethod(this.request.raw)} ${formatRoute(this.request)}`,
      ...(target === undefined ? {} : { target }),
      ...effect,
      status,
    }
  }
}

/** The call of a request: every management route has a hook that creates it. */
export function requireCall({ call }: FastifyRequest): Call {
  if (call === undefined) throw new TypeError('The route has no auth hook.')
  return call
}

/** The route as OpenAPI writes it. An unknown URL may hold anything, so it is left out. */
const formatRoute = ({ routeOptions, is404 }: FastifyRequest): string =>
  is404 ? '(unknown)' : (routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}')

/** The id in the URL, if it can be one. */
function parseTarget(params: unknown): string | undefined {
  const { id } = (params ?? {}) as { id?: unknown }
  return typeof id === 'string' && /^[0-9a-f]{16,24}$/.test(id) ? id : undefined
}
