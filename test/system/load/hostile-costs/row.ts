/** What one row of the table of hostile costs is: an attack, and what it may cost others. */
import type { BundledService } from '../bundled-service.ts'
import { registerAt } from '../bundled-service.ts'

export type HostileCost = Readonly<{
  /** The group of the row; `run.ts` takes groups as arguments. */
  group: 'requests' | 'bodies' | 'lists' | 'paths' | 'tests' | 'shares' | 'validation'
  name: string
  env?: Readonly<Record<string, string>>
  /** Done before the measurement starts. */
  prepare?(service: BundledService): Promise<void>
  /** Measured. Gives what was answered, in a few words. */
  attack(service: BundledService): Promise<string>
}>

/** Sends a body as JSON; gives the status with the code of the failure. */
export async function send(url: string, body: unknown, init: RequestInit = {}): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  })
  let start = ''
  for await (const chunk of answer.body ?? []) if (start.length < 10_000) start += Buffer.from(chunk).toString('latin1')
  const code = /"code":"([A-Z_]+)"/.exec(start)?.[1]
  return code === undefined ? `${answer.status}` : `${answer.status} ${code}`
}

export { type BundledService, registerAt }
