/** The part that changes of one endpoint and of many have in common: versions, limits, and the activation of what is stored. */

import type { Clock } from '../core/run.ts'
import type { Origin, StoredDocument } from '../core/stored-document.ts'
import type { AuditEffect } from '../store/sql/audit-store.ts'
import type { EndpointStore } from '../store/sql/endpoint-store.ts'
import type { Stamp } from './compile-document.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import type { Registry } from './endpoint-registry.ts'
import type { InactiveDocuments } from './sync/load-stored-endpoint.ts'

/** Calls must not overlap with other changes of the registry. */
export interface EndpointChanges {
  /** The active endpoints whose documents are those in the store. */
  stored(): readonly CompiledEndpoint[]
  /** As `Registry`, among these. */
  rivalsOf: Registry['rivalsOf']
  /** How many endpoints exist, active or not. */
  count(): number
  /** The stored document, of an active endpoint without a read of the store. Rejects with StoreUnavailable. */
  current(id: string): Promise<StoredDocument | undefined>
  /**
   * The fields of the version after `document`: if another instance changes the document in between, the write is stale.
   * Rejects with StoreUnavailable.
   */
  nextStamp(document: StoredDocument): Promise<Stamp>
  /** Activates at once what is stored. */
  activate(removed: readonly string[], compiled: readonly CompiledEndpoint[]): void
}

export function createEndpointChanges(
  { store, registry, clock }: Readonly<{ store: EndpointStore; registry: Registry; clock: Clock }>,
  { refused, pending }: InactiveDocuments,
): EndpointChanges {
  // The store has another document for a pending compilation: the active one's name and route may be taken.
  const isStored = ({ document }: CompiledEndpoint): boolean => !pending.has(document._id)

  const findActive = (id: string): CompiledEndpoint | undefined => (pending.has(id) ? undefined : registry.get(id))

  return {
    stored: () => registry.all().filter(isStored),
    rivalsOf: (one) => registry.rivalsOf(one).filter(isStored),
    count: () => {
      // An earlier document of a pending compilation may be active.
      const inactive = [...refused.keys(), ...pending.keys()].filter((id) => registry.get(id) === undefined)
      return registry.size + inactive.length
    },
    current: async (id) => findActive(id)?.document ?? (await store.get(id)),
    nextStamp: async (document) => {
      const { _id, createdAt, updatedAt } = document
      const active = findActive(_id)
      const known = active?.document === document ? { version: active.version, at: updatedAt } : undefined
      const newest = known ?? (await store.versions(_id))[0]
      const before = newest === undefined || newest.at < updatedAt ? updatedAt : newest.at
      return { _id, createdAt, updatedAt: later(before, clock()), version: (newest?.version ?? 0) + 1 }
    },
    activate: (removed, compiled) => {
      const changed = new Set([...removed, ...compiled.map(({ document }) => document._id)])
      const overtaken = compiled.flatMap(registry.rivalsOf).map(({ document }) => document._id)
      const gone = [...removed, ...overtaken.filter((id) => !changed.has(id))]
      const [first, ...others] = compiled
      if (first !== undefined && others.length === 0 && gone.length === 0) registry.put(first)
      else registry.update(gone, compiled)
      for (const id of changed) {
        refused.delete(id)
        pending.delete(id)
      }
    },
  }
}

/** For the entry of a change in the audit log. */
export function effectOf({ _id, version }: Pick<Stamp, '_id' | 'version'>, origin: Origin): AuditEffect {
  const { note, testsOverride } = origin
  const parts = [note ?? '', testsOverride === undefined ? '' : `Tests overridden: ${testsOverride}`]
  const written = parts.filter((part) => part !== '').join('. ')
  return { target: _id, before: version - 1, after: version, ...(written === '' ? {} : { note: written }) }
}

/** An `updatedAt` that differs from the one before, even within one millisecond. */
const later = (before: string, now: number): string => new Date(Math.max(now, Date.parse(before) + 1)).toISOString()
