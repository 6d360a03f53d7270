/** Questions to many workers, and their answers: one gone is not waited for, one silent only for a time. */

export type ScatterGather<Member, Answer> = Readonly<{
  /** Asks each, by `ask`; resolves to what they answered and how many did not in time, or could not. */
  gather(
    members: readonly Member[],
    ask: (member: Member, call: number) => void,
    timeoutMs: number,
  ): Promise<Readonly<{ answers: ReadonlyMap<Member, Answer>; missing: number }>>
  answered(member: Member, call: number, answer: Answer | undefined): void
  /** It will not answer any more. */
  gone(member: Member): void
}>

type Call<Member, Answer> = Readonly<{
  left: Set<Member>
  answers: Map<Member, Answer>
  /** Those that said that they could not. */
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
