/** Documents and states that carry their own checksum, so that a torn one shows. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../src/core/json.ts'
import type { StateFilter, StateRecord } from '../../../src/store/sql/states.ts'

const checksum = (content: JsonObject): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 24)

export const sealed = <Content extends JsonObject>(content: Content): Content & { readonly checksum: string } => ({
  ...content,
  checksum: checksum(content),
})

/** The checksum of what `sealed` made; undefined where it is not whole. */
export function sealOf(value: JsonObject): string | undefined {
  const { checksum: seal, ...content } = value
  return typeof seal === 'string' && seal === checksum(content) ? seal : undefined
}

export const stateRegister = (id: string, { lookupStatus, networkError }: Omit<StateRecord, 'values'>): string =>
  `${id}/${lookupStatus ?? 0}/${networkError ? 1 : 0}`

/** The filter that only states of this register pass; undefined for the register of an endpoint. */
export function stateOfRegister(register: string): Readonly<{ id: string; filter: StateFilter }> | undefined {
  const [id = '', status, networkError] = register.split('/')
  if (status === undefined) return undefined
  const ranges = [[Number(status), Number(status)]] as const
  return {
    id,
    filter: { networkErrors: networkError === '1' ? 'include' : 'exclude', statuses: { any: false, ranges } },
  }
}
