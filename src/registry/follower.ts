/** Keeps the endpoints in force the same as those of a store that other instances change too. */
import type { Awaitable } from '../domain/json.ts'
import type { ChangeFeed, StoredDocument } from '../domain/ports.ts'
import type { Compiled } from './compiled.ts'
import { createInForce, type InForce } from './in-force.ts'
import type { Registry } from './registry.ts'

export interface Follower {
  /** The version of the store that is in force here; 0 before the first. */
  readonly version: number
  /** Puts in force what the store holds now. Rejects with StoreUnavailable, and then changes nothing. */
  catchUp(): Promise<void>
}

export type FollowerOptions = Readonly<{
  changes: ChangeFeed
  registry: Registry
  /** Ids of the documents that were refused; kept up to date. */
  refused: Set<string>
  /** Compiles a stored document; undefined where it cannot be in force beside those. */
  revive(document: StoredDocument, version: number, inForce: InForce): Awaitable<Compiled | undefined>
}>

/** Calls of `catchUp`, and other changes of the registry, must not overlap. */
export function createFollower({ changes, registry, refused, revive }: FollowerOptions): Follower {
  let version = 0

  /** An endpoint whose document is the same stays as it is: compiling it again would gain nothing. */
  const isNews = (document: StoredDocument): boolean =>
    JSON.stringify(registry.get(document._id)?.document) !== JSON.stringify(document)

  return {
    get version() {
      return version
    },
    catchUp: async () => {
      const since = await changes.since(version)
      // A version that goes back is another history, such as a restored backup.
      const { version: newVersion, documents, versions, ids } = since.version < version ? await changes.since(0) : since
      if (newVersion === version) return
      const news = documents.filter(isNews)
      const replaced = new Set(news.map(({ _id }) => _id))
      const before = registry.all()
      const inForce = createInForce(before.filter(({ document: { _id } }) => ids.has(_id) && !replaced.has(_id)))
      for (const id of refused) if (!ids.has(id) || replaced.has(id)) refused.delete(id)
      const revived: Compiled[] = []
      for (const document of news) {
        const compiled = await revive(document, versions.get(document._id) ?? 1, inForce)
        if (compiled === undefined) {
          refused.add(document._id)
        } else {
          revived.push(compiled)
          inForce.add(compiled)
        }
      }
      const gone = before.map(({ document: { _id } }) => _id).filter((id) => !ids.has(id) || refused.has(id))
      if (gone.length > 0 || revived.length > 0) registry.update(gone, revived)
      version = newVersion
    },
  }
}
