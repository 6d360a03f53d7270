/** Asks many members and collects their answers; a member that is gone is not waited for, a silent one up to a timeout. */

export type ScatterGather<Member, Answer> = Readonly<{
  /** Calls `ask` for each; resolves to the answers, and to how many members did not answer in time or could not. */
  gather(
    members: readonly Member[],
    ask: (member: Member, call: number) => void,
    timeoutMs: number,
  ): Promise<Readonly<{ answers: ReadonlyMap<Member, Answer>; missing: number }>>
  answered(member: Member, call: number, answer: Answer | undefined): void
  /** The member will not answer any more. */
  gone(member: Member): void
}>

type Call<Member, Answer> = Readonly<{
  left: Set<Member>
  answers: Map<Member, Answer>
  /** Members that reported a failure. */
  unable: Set<Member>
  end(): void
}>

export function createScatterGather<Member, Answer>(): ScatterGather<Member, Answer> {
  const calls = new Map<number, Call<Member, Answer>>()
  let count = 0

  const leave = (call: Call<Member, Answer>, member: Member): void => {
    if (call.left.delete(member) && call.left.size === 0) call.end()
  }
  return {
    gather: (members, ask, timeoutMs) => {
      count += 1
      const id = count
      return new Promise((resolve) => {
        const left = new Set(members)
        const answers = new Map<Member, Answer>()
        const unable = new Set<Member>()
        const end = () => {
          clearTimeout(timer)
          calls.delete(id)
          resolve({ answers, missing: left.size + unable.size })
        }
        const timer = setTimeout(end, timeoutMs)
        calls.set(id, { left, answers, unable, end })
        if (left.size === 0) end()
        else for (const member of members) ask(member, id)
      })
    },
    answered: (member, id, answer) => {
      const call = calls.get(id)
      if (call === undefined) return
      if (answer === undefined) call.unable.add(member)
      else call.answers.set(member, answer)
      leave(call, member)
    },
    gone: (member) => {
      for (const call of calls.values()) {
        call.unable.delete(member)
        leave(call, member)
      }
    },
  }
}
