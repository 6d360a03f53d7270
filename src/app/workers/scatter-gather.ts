/** Sends a request to many members and collects their responses, up to a timeout; it does not wait for lost members. */

export type ScatterGather<Member, Response> = Readonly<{
  /** Calls `send` for each member. Out: the responses, and the number of members that failed or did not respond in time. */
  gather(
    members: readonly Member[],
    send: (member: Member, call: number) => void,
    timeoutMs: number,
  ): Promise<Readonly<{ responses: ReadonlyMap<Member, Response>; missing: number }>>
  /** `response`: undefined if the member failed. */
  respond(member: Member, call: number, response: Response | undefined): void
  /** The member is lost and counts as missing in no call. */
  leave(member: Member): void
}>

type Call<Member, Response> = Readonly<{
  waitingFor: Set<Member>
  responses: Map<Member, Response>
  failed: Set<Member>
  finish(): void
}>

export function createScatterGather<Member, Response>(): ScatterGather<Member, Response> {
  const calls = new Map<number, Call<Member, Response>>()
  let count = 0

  const remove = (call: Call<Member, Response>, member: Member): void => {
    if (call.waitingFor.delete(member) && call.waitingFor.size === 0) call.finish()
  }
  return {
    gather: (members, send, timeoutMs) => {
      count += 1
      const id = count
      return new Promise((resolve) => {
        const waitingFor = new Set(members)
        const responses = new Map<Member, Response>()
        const failed = new Set<Member>()
        const finish = () => {
          clearTimeout(timer)
          calls.delete(id)
          resolve({ responses, missing: waitingFor.size + failed.size })
        }
        const timer = setTimeout(finish, timeoutMs)
        calls.set(id, { waitingFor, responses, failed, finish })
        if (waitingFor.size === 0) finish()
        else for (const member of members) send(member, id)
      })
    },
    respond: (member, id, response) => {
      const call = calls.get(id)
      if (call === undefined) return
      if (response === undefined) call.failed.add(member)
      else call.responses.set(member, response)
      remove(call, member)
    },
    leave: (member) => {
      for (const call of calls.values()) {
        call.failed.delete(member)
        remove(call, member)
      }
    },
  }
}
