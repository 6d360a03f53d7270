/** `crosswalk keys`: API keys. The commands open the store themselves, so they work before there is any key. */
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { type ApiKeys, checkKeyRequest, createApiKeys, type KeyRequest } from '../api/access/api-keys.ts'
import { openStoreBeside } from '../app/open-store.ts'
import { createIds } from '../core/id.ts'
import { createLogger } from '../observe/log/logger.ts'
import type { Settings } from '../settings/settings.ts'
import type { ToAuditEntry } from '../store/sql/audit-store.ts'
import type { StoredKey } from '../store/sql/key-store.ts'
import type { Terminal } from './command.ts'
import type { Given } from './commands.ts'
import { nameStore, withStore } from './store.ts'

export function create({ name, role, expires }: Given<'keys create'>, terminal: Terminal): Promise<'done'> {
  const request = { name, roles: role, expiresAt: expires }
  const work = async (keys: ApiKeys, settings: Settings) => {
    const isFirst = !(await keys.exist('The store of API keys'))
    const { key, stored } = await keys.create(request, auditEntryFor('keys create'))
    terminal.note(`Key ${stored.id} (${stored.roles.join(', ')}). The next line shows it; it cannot be shown again.`)
    if (isFirst && settings.managementAuth === undefined) {
      terminal.note('From now on every management call to a service on this store needs a key.')
    }
    terminal.print(key)
  }
  return withKeys(terminal, work, request)
}

export const list = (_given: object, terminal: Terminal): Promise<'done'> =>
  withKeys(terminal, async (keys) => {
    const all = await keys.list()
    if (all.length === 0) terminal.print('There are no keys.')
    for (const key of all) terminal.print(key.id, key.roles.join(','), key.createdAt, describeState(key), key.name)
  })

export const revoke = ({ id }: Given<'keys revoke'>, terminal: Terminal): Promise<'done'> =>
  withKeys(terminal, async (keys) => {
    await keys.revoke(id, auditEntryFor('keys revoke'))
    terminal.print(`Key ${id} is revoked.`)
  })

/** A running service applies changes at once. `request`: the key to create; only then may it make a store, too. */
const withKeys = (
  terminal: Terminal,
  work: (keys: ApiKeys, settings: Settings) => Promise<void>,
  request?: KeyRequest,
): Promise<'done'> =>
  withStore(terminal, async (settings) => {
    const logger = createLogger({ ...settings, logLevel: 'error' })
    if (request !== undefined) checkKeyRequest(request, Date.now())
    const named = await nameStore(settings, logger, request !== undefined)
    const store = await openStoreBeside(settings, logger)
    terminal.note(named)
    const keys = createApiKeys({ store: store.keys, clock: Date.now, random: randomBytes })
    await work(keys, settings).finally(store.close)
  })

const auditEntryFor =
  (what: string): ToAuditEntry =>
  (effect) => ({
    id: createIds(Date.now, randomBytes(4).readUInt32BE())(),
    at: new Date().toISOString(),
    who: `command:${userName()}`,
    what,
    ...effect,
    status: 0,
  })

function describeState({ revokedAt, expiresAt }: StoredKey): string {
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
