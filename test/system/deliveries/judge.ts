/** Judges what arrived at a target against what was accepted. It imports nothing: its view of order and repeats is its own. */

export type Judged = Readonly<{
  /** Of each message its key, its number within the key from 0 on, and the ids of its delivery in all answers to its sender. */
  accepted: readonly Readonly<{ key: string; number: number; ids: readonly string[] }>[]
  /** The processes that were killed, each by the name that it sends with its requests. */
  killed: readonly string[]
  /** Deliveries that one process sends at the same time, at most. */
  underWay: number
  /** An answer that took longer may have been too late for the service. */
  answerMs: number
  /** The lines of the target: an arrival, or the end of an answer. */
  log: string
}>

export type Verdict = Readonly<{
  arrivals: number
  /** Messages that the target took. */
  taken: number
  /** Takes of what had been taken and answered before, which only a kill explains; and the most of one kill. */
  repeatsByKill: number
  mostOfOneKill: number
  /** Takes of what had been taken without an answer in time: it was late, dropped, or the connection ended. */
  repeatsUnanswered: number
  faults: readonly string[]
}>

type Line = Readonly<{
  arrival: string
  at: number
  key?: string
  number?: number
  id?: string
  isTaken?: boolean
  process?: string
}>
type Take = { at: number; arrival: string; process: string }

export function judge({ accepted, killed, underWay, answerMs, log }: Judged): Verdict {
  const lines = log.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
  const answeredAt = new Map(lines.flatMap(({ arrival, at, key }) => (key === undefined ? [[arrival, at]] : [])))
  const faults: string[] = []
  const takes = new Map<string, Take>()
  const idOf = new Map<string, string>()
  const reached = new Map<string, number>()
  const repeatsOf = new Map<string, number>()
  let [arrivals, repeatsUnanswered] = [0, 0]
  for (const { arrival, at, key, number, id = '', isTaken, process = '' } of lines) {
    if (key === undefined || number === undefined) continue
    arrivals += 1
    const name = `${key} ${number}`
    const highest = reached.get(key) ?? 0
    if (number < highest) faults.push(`${name} arrived after ${highest}`)
    if (number > 0 && !takes.has(`${key} ${number - 1}`)) faults.push(`${name} arrived before ${number - 1} was taken`)
    reached.set(key, Math.max(highest, number))
    const known = idOf.get(name) ?? id
    idOf.set(name, known)
    if (known !== id) faults.push(`${name} arrived as ${known} and as ${id}`)
    if (!isTaken) continue
    const before = takes.get(name)
    takes.set(name, { at, arrival, process })
    if (before === undefined) continue
    const answered = answeredAt.get(before.arrival)
    if (answered === undefined || answered - before.at > answerMs) {
      repeatsUnanswered += 1
      continue
    }
    if (killed.includes(before.process)) repeatsOf.set(before.process, (repeatsOf.get(before.process) ?? 0) + 1)
    else faults.push(`${name} was repeated, and the process that had sent it was not killed`)
  }
  for (const { key, number, ids } of accepted) {
    const name = `${key} ${number}`
    if (!takes.has(name)) faults.push(`${name} was accepted and lost`)
    const arrivedAs = idOf.get(name)
    const others = ids.filter((id) => id !== arrivedAs)
    if (arrivedAs !== undefined && others.length > 0)
      faults.push(`${name} was accepted as ${others} and arrived as ${arrivedAs}`)
  }
  if (takes.size > accepted.length) faults.push(`${takes.size - accepted.length} arrived that were not accepted`)
  const repeatsByKill = [...repeatsOf.values()].reduce((sum, count) => sum + count, 0)
  const mostOfOneKill = Math.max(0, ...repeatsOf.values())
  if (mostOfOneKill > underWay)
    faults.push(`${mostOfOneKill} were repeated after a kill, and ${underWay} could be under way`)
  return { arrivals, taken: takes.size, repeatsByKill, mostOfOneKill, repeatsUnanswered, faults }
}
