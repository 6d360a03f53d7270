/** A service whose configuration changes: after a kill, every change has its entry in the audit log, and every entry its change. */
import { fileURLToPath } from 'node:url'
import type { AuditEntry } from '../../../src/store/sql/audit-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { type Database, openDatabase } from '../../support/databases.ts'
import type { CrashSubject } from './crash-rounds.ts'

const CHILD = fileURLToPath(new URL('./audit-crash-child.ts', import.meta.url))
const PAGE = 1_000

/** Registers are the names of endpoints; their values are the newest versions. */
export function compileAuditSubject(database: Database): CrashSubject {
  return {
    command: (seed) => [CHILD, database.url, `${seed}`],
    async inspect() {
      const store = await openDatabase(database)
      try {
        const entries = await allEntries(store)
        const versions = await store.endpoints.newestVersions()
        const found = new Map(
          (await store.endpoints.list()).map(({ _id, name }) => [name, `${versions.get(_id)}`] as const),
        )
        return { found, faults: [...(await endpointFaults(store, entries)), ...(await otherFaults(store, entries))] }
      } finally {
        await store.close()
      }
    },
  }
}

async function allEntries(store: Store): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (;;) {
    const page = await store.audit.find({}, PAGE, entries.at(-1)?.id)
    entries.push(...page)
    if (page.length < PAGE) return entries
  }
}

async function endpointFaults(store: Store, entries: readonly AuditEntry[]): Promise<readonly string[]> {
  const noted = new Map<string, number[]>()
  for (const { target = '', after, status } of entries) {
    if (after === undefined || status >= 300) continue
    noted.set(target, [...(noted.get(target) ?? []), after])
  }
  const faults: string[] = []
  const ids = new Set([...noted.keys(), ...(await store.endpoints.list()).map(({ _id }) => _id)])
  for (const id of ids) {
    const kept = await store.endpoints.versions(id)
    // The versions of endpoints that were deleted long ago are removed.
    const changes = kept.map(({ version }) => version)
    const oldest = Math.min(...changes)
    const audited = noted.get(id) ?? []
    faults.push(
      ...changes.filter((version) => !audited.includes(version)).map((v) => `version ${v} of ${id} has no entry`),
      ...audited
        .filter((version, index) => audited.indexOf(version) !== index)
        .map((v) => `version ${v} of ${id} has two entries`),
      ...(changes.length === 0 ? [] : audited)
        .filter((version) => version >= oldest && !changes.includes(version))
        .map((v) => `the entry of version ${v} of ${id} has no change`),
    )
  }
  return faults
}

async function otherFaults(store: Store, entries: readonly AuditEntry[]): Promise<readonly string[]> {
  const faults: string[] = []
  const has = (what: string, target: string): boolean =>
    entries.some((entry) => entry.what === what && entry.target === target && entry.status < 300)
  for (const { id, revokedAt } of await store.keys.list()) {
    if (!has('POST /keys', id)) faults.push(`the key ${id} has no entry`)
    if (has('DELETE /keys/{id}', id) !== (revokedAt !== undefined))
      faults.push(`the end of key ${id} and its entry differ`)
  }
  for (const id of await store.tests.endpoints()) {
    if (!has('PUT /endpoints/{id}/tests', id)) faults.push(`the tests of ${id} have no entry`)
  }
  return faults
}
