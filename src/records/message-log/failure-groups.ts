/** Failures that are alike, with what people say of them: open, acknowledged or ignored, and a note. */
import { Failure } from '../../core/failure.ts'
import type { Clock } from '../../core/run.ts'
import type { ToAuditEntry } from '../../store/sql/audit-store.ts'
import type { FailureGroupStore, GroupMark, GroupState } from '../../store/sql/failure-group-store.ts'
import type { GroupKey, MessageFilter, MessageGroup, MessageStore } from '../../store/sql/messages.ts'
import { callStore } from '../../store/store-access.ts'
import { groupFilter, groupKeyText, NOT_DONE, readGroupKey } from './group-key.ts'
import type { MessageQuery } from './message-filter.ts'
import { callMessageLog, type MessageSearch } from './message-search.ts'

/** `state` is `open` for a group without a mark. */
export type FailureGroup = MessageGroup &
  Readonly<{
    key: string
    state: GroupState
    note?: string | undefined
    by?: string
    /** ISO 8601. */
    at?: string
    /** Messages after `at`, of a group that is acknowledged or ignored. */
    since?: number
  }>

/** Fails with FILTER_INVALID, FAILURE_GROUP_UNKNOWN, FAILURE_GROUP_INVALID, STORE_UNAVAILABLE. */
interface FailureGroups {
  /**
   * The largest group first, of those with one of the states. `minutesFrom` is the start of the first of the minutes of each
   * group, in ISO 8601.
   */
  list(
    query: MessageQuery & Readonly<{ state?: readonly GroupState[] }>,
  ): Promise<Readonly<{ minutesFrom: string; groups: readonly FailureGroup[] }>>
  get(key: string): Promise<FailureGroup>
  /** `by`: who says it; `toAuditEntry`: for its entry in the audit log. */
  mark(
    key: string,
    said: Readonly<{ state: GroupState; note?: string }>,
    by: string,
    toAuditEntry?: ToAuditEntry,
  ): Promise<FailureGroup>
}

type FailureGroupsOptions = Readonly<{
  store: FailureGroupStore
  messages: MessageStore
  search: MessageSearch
  clock: Clock
}>

const MINUTES = 60
const MINUTE_MS = 60_000
const MAX_MARKS = 5_000
export const MAX_NOTE_CHARACTERS = 2_000
/** Counts that are asked of the message log at once. */
const COUNTS_AT_ONCE = 8

export function createFailureGroups({ store, messages, search, clock }: FailureGroupsOptions): FailureGroups {
  const firstMinute = (): number => (Math.floor(clock() / MINUTE_MS) - MINUTES + 1) * MINUTE_MS

  async function marksByKey(): Promise<ReadonlyMap<string, GroupMark>> {
    const marks = await callMarks(store.list)
    return new Map(marks.map(({ group, mark }) => [groupKeyText(group), mark]))
  }

  /** The messages of a group that are newer than its mark. */
  async function countSince(group: MessageGroup, { at }: GroupMark, filter: MessageFilter): Promise<number> {
    if (group.lastSeen <= at) return 0
    const from = Math.max(Date.parse(at) + 1, filter.from ?? 0)
    return callMessageLog(() => messages.count({ outcome: NOT_DONE, ...filter, ...groupFilter(group), from }))
  }

  async function marked(group: MessageGroup, mark: GroupMark | undefined, filter: MessageFilter) {
    const key = groupKeyText(group)
    if (mark === undefined) return { key, ...group, state: 'open' } as const
    const since = mark.state === 'open' ? {} : { since: await countSince(group, mark, filter) }
    return { key, ...group, ...mark, ...since }
  }

  async function find(key: string, filter: MessageFilter): Promise<MessageGroup> {
    await search.caughtUp()
    const span = { from: firstMinute(), count: MINUTES }
    const [group] = await callMessageLog(() => messages.groups(filter, span))
    return group ?? unknown(key)
  }

  return {
    list: async ({ state: states, ...query }) => {
      const filter = await search.filter(query)
      await search.caughtUp()
      const span = { from: firstMinute(), count: MINUTES }
      const [found, marks] = await Promise.all([callMessageLog(() => messages.groups(filter, span)), marksByKey()])
      const wanted = found.flatMap((group) => {
        const mark = marks.get(groupKeyText(group))
        return states === undefined || states.includes(mark?.state ?? 'open') ? [{ group, mark }] : []
      })
      const groups: FailureGroup[] = []
      for (let start = 0; start < wanted.length; start += COUNTS_AT_ONCE) {
        const some = wanted.slice(start, start + COUNTS_AT_ONCE)
        groups.push(...(await Promise.all(some.map(({ group, mark }) => marked(group, mark, filter)))))
      }
      return { minutesFrom: new Date(span.from).toISOString(), groups }
    },
    get: async (key) => {
      const filter = groupFilter(parseKey(key))
      const [group, marks] = await Promise.all([find(key, filter), marksByKey()])
      return marked(group, marks.get(key), filter)
    },
    mark: async (key, said, by, toAuditEntry) => {
      const id = parseKey(key)
      const filter = groupFilter(id)
      const group = await find(key, filter)
      const mark = { ...said, by, at: new Date(clock()).toISOString() }
      const note = said.note === undefined ? said.state : `${said.state}: ${said.note}`
      await callMarks(() => store.put(id, mark, MAX_MARKS, toAuditEntry?.({ target: groupKeyText(group), note })))
      return marked(group, mark, filter)
    },
  }
}

const callMarks = <T>(work: () => Promise<T>): Promise<T> => callStore('The store of failure groups', work)

const parseKey = (text: string): GroupKey => readGroupKey(text) ?? unknown(text)

function unknown(key: string): never {
  const known =
    readGroupKey(key) === undefined ? 'this is not the key of a group' : 'the message log has no message of it'
  throw new Failure('FAILURE_GROUP_UNKNOWN', `There is no such group of failures: ${known}.`)
}
