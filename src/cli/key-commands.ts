/** API keys on the command line. The commands open the store itself, so they work before there is any key. */
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { createApiKeys, type KeyRequest } from '../access/api-keys.ts'
import { createIds } from '../domain/id.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Settings } from '../settings/settings.ts'
import type { EntryOf } from '../store/sql/audit-store.ts'
import type { StoredKey } from '../store/sql/key-store.ts'
import { openStoreBeside } from '../wiring/open-store.ts'

export interface KeyCommands {
  /** The key, and a note for the operator. */
  create(request: KeyRequest): Promise<Readonly<{ key: string; note: string }>>
  /** One line for each key. */
  list(): Promise<string>
  revoke(id: string): Promise<string>
  close(): Promise<void>
}

/** A running service applies changes at once. Rejects with StoreUnavailable or a Failure, with a sentence for the operator. */
export async function openKeyCommands(settings: Settings, logger: Logger): Promise<KeyCommands> {
  const store = await openStoreBeside(settings, logger)
  const keys = createApiKeys({ store: store.keys, clock: Date.now, random: randomBytes })
  const newId = createIds(Date.now, randomBytes(4).readUInt32BE())
  const entryOf =
    (what: string): EntryOf =>
    (effect) => ({
      id: newId(),
      at: new Date().toISOString(),
      who: `command:${userName()}`,
      what,
      ...effect,
      status: 0,
    })
  return {
    create: async (request) => {
      const isFirst = !(await keys.exist('The store of API keys'))
      const { key, stored } = await keys.create(request, entryOf('keys create'))
      const note = `Key ${stored.id} (${stored.roles.join(', ')}). The next line shows it; it cannot be shown again.\n`
      const isClosing = isFirst && settings.managementAuth === undefined
      return {
        key,
        note: isClosing ? `${note}From now on every management call to a service on this store needs a key.\n` : note,
      }
    },
    list: async () => {
      const lines = (await keys.list()).map((key) =>
        [key.id, key.roles.join(','), key.createdAt, stateOf(key), key.name].join('\t'),
      )
      return lines.length === 0 ? 'There are no keys.\n' : `${lines.join('\n')}\n`
    },
    revoke: async (id) => {
      await keys.revoke(id, entryOf('keys revoke'))
      return `Key ${id} is revoked.\n`
    },
    close: store.close,
  }
}

function stateOf({ revokedAt, expiresAt }: StoredKey): string {
  if (revokedAt !== undefined) return `revoked ${revokedAt}`
  if (expiresAt === undefined) return 'good'
  return Date.parse(expiresAt) <= Date.now() ? `expired ${expiresAt}` : `good until ${expiresAt}`
}

/** A user of a container may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
