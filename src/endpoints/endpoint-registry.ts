/**
 * The active endpoints, by id. Compiled endpoints are immutable, and a change is made between two messages, so that each
 * message runs with one configuration from start to finish. The doors hear of each change and find endpoints by indexes
 * of their own.
 */
import { collectInto, type Lint } from '../core/lint.ts'
import { CLAIMING_FIELDS } from '../document/doors.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'

/**
 * A set of endpoints, no two of which share a name or a claim. Finding one, adding one and finding its rivals takes
 * constant time, so that ten thousand endpoints cost a change no more than ten.
 */
export class ActiveEndpoints {
  readonly #byId = new Map<string, CompiledEndpoint>()
  readonly #byName = new Map<string, CompiledEndpoint>()
  readonly #byClaim = new Map<string, CompiledEndpoint>()

  constructor(compiled: readonly CompiledEndpoint[] = []) {
    for (const one of compiled) this.add(one)
  }

  get size(): number {
    return this.#byId.size
  }

  get(id: string): CompiledEndpoint | undefined {
    return this.#byId.get(id)
  }

  byName(name: string): CompiledEndpoint | undefined {
    return this.#byName.get(name)
  }

  /** In the order in which their ids were first added. */
  all(): readonly CompiledEndpoint[] {
    return [...this.#byId.values()]
  }

  /** The endpoints with other ids that have its name or one of its claims. */
  findRivals({ document, claims }: CompiledEndpoint): readonly CompiledEndpoint[] {
    const rivals = new Set([this.#byName.get(document.name), ...claims.map(({ key }) => this.#byClaim.get(key))])
    return [...rivals].filter(
      (rival) => rival !== undefined && rival.document._id !== document._id,
    ) as CompiledEndpoint[]
  }

  /** Replaces the endpoint with its id, if there is one. */
  add(one: CompiledEndpoint): void {
    const { _id, name } = one.document
    this.#release(this.#byId.get(_id))
    this.#byId.set(_id, one)
    this.#byName.set(name, one)
    for (const { key } of one.claims) this.#byClaim.set(key, one)
  }

  remove(id: string): void {
    this.#release(this.#byId.get(id))
    this.#byId.delete(id)
  }

  /** When several endpoints change at once, another one may already have the name or claim that this one gives up. */
  #release(before: CompiledEndpoint | undefined): void {
    if (before === undefined) return
    const { name } = before.document
    if (this.#byName.get(name) === before) this.#byName.delete(name)
    for (const { key } of before.claims) if (this.#byClaim.get(key) === before) this.#byClaim.delete(key)
  }
}

/** What changed at once. An endpoint that was replaced is in both lists, as it was and as it is. */
export type RegistryChange = Readonly<{
  removed: readonly CompiledEndpoint[]
  added: readonly CompiledEndpoint[]
}>

export interface Registry extends Omit<ActiveEndpoints, 'add' | 'remove'> {
  /** Activates an endpoint in place of the one with its id, if there is one. */
  put(compiled: CompiledEndpoint): void
  remove(id: string): void
  /** Removes and activates several endpoints at once. */
  update(removed: readonly string[], compiled: readonly CompiledEndpoint[]): void
  /** Calls the listener within each change, before the next message: what it then finds is in force. */
  watch(listener: (change: RegistryChange) => void): void
}

export function createEndpointRegistry(): Registry {
  let active = new ActiveEndpoints()
  const listeners: ((change: RegistryChange) => void)[] = []
  const update: Registry['update'] = (ids, compiled) => {
    const changed = new Set([...ids, ...compiled.map(({ document }) => document._id)])
    const removed = [...changed].flatMap((id) => active.get(id) ?? [])
    const hasNew = compiled.some(({ document }) => active.get(document._id) === undefined)
    for (const id of ids) active.remove(id)
    for (const one of compiled) active.add(one)
    if (hasNew) {
      active = new ActiveEndpoints(
        active.all().toSorted((one, other) => (one.document._id < other.document._id ? -1 : 1)),
      )
    }
    for (const listener of listeners) listener({ removed, added: compiled })
  }
  return {
    get size() {
      return active.size
    },
    get: (id) => active.get(id),
    byName: (name) => active.byName(name),
    all: () => active.all(),
    findRivals: (compiled) => active.findRivals(compiled),
    put: (compiled) => {
      const before = active.get(compiled.document._id)
      active.add(compiled)
      const change = { removed: before === undefined ? [] : [before], added: [compiled] }
      for (const listener of listeners) listener(change)
    },
    remove: (id) => update([id], []),
    update,
    watch: (listener) => void listeners.push(listener),
  }
}

/**
 * Finds endpoints with the same name, or with one of its claims. `describeEndpoint`: how a lint names the other one if its
 * name is taken. The unique keys of the store decide in the end.
 */
export function findClashes(
  compiled: CompiledEndpoint,
  active: Pick<ActiveEndpoints, 'findRivals'>,
  describeEndpoint = ({ document }: CompiledEndpoint): string => `The endpoint ${document._id}`,
): readonly Lint[] {
  const { document, claims } = compiled
  const lints: Lint[] = []
  const lint = collectInto(lints)
  for (const other of active.findRivals(compiled)) {
    if (other.document.name === document.name) {
      lint.at('name').error(`${describeEndpoint(other)} has this name already; choose another one.`)
    }
    for (const { key, path, taken } of claims) {
      const same = other.claims.find((claim) => claim.key === key)
      if (same === undefined) continue
      lint.at(...path.split('.')).error(`"${other.document.name}" (${same.shown}) ${taken}`)
    }
  }
  return lints
}

/** A document without a sound name or claim has stand-ins for them, which clash with nothing. */
export const hasNameAndClaims = (lints: readonly Lint[]): boolean =>
  !lints.some(({ path, severity }) => severity === 'error' && isNameOrClaim(path.split(/\W/, 1)[0] as string))

const isNameOrClaim = (field: string): boolean => field === '' || field === 'name' || CLAIMING_FIELDS.has(field)
