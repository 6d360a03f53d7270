/** The limits of a run, as its form has them and as the API takes them. */
import type { RunLimits } from '../../api/records/record-types.ts'

export type LimitsForm = Readonly<{ first: boolean; max: string; concurrency: string; perSecond: string }>

/** One message first, then all of the rest, one after the other. */
export const DEFAULT_LIMITS: LimitsForm = { first: true, max: '', concurrency: '1', perSecond: '' }

export type LimitFaults = Readonly<Partial<Record<'max' | 'concurrency' | 'perSecond', string>>>

const WHOLE = /^[0-9]+$/

const isWhole = (text: string, max: number): boolean => WHOLE.test(text) && Number(text) >= 1 && Number(text) <= max

const isRate = (text: string): boolean => Number(text) >= 0.01 && Number(text) <= 10_000

/** What is wrong with the fields, by name; the service checks the values too. */
export function checkLimits({ max, concurrency, perSecond }: LimitsForm): LimitFaults {
  return {
    ...(max.trim() !== '' && !isWhole(max.trim(), 100_000) && { max: 'A whole number from 1 to 100,000, or nothing.' }),
    ...(!isWhole(concurrency.trim(), 100) && { concurrency: 'A whole number from 1 to 100.' }),
    ...(perSecond.trim() !== '' && !isRate(perSecond.trim()) && { perSecond: 'From 0.01 to 10,000, or nothing.' }),
  }
}

export const toRunLimits = ({ first, max, concurrency, perSecond }: LimitsForm): RunLimits => ({
  concurrency: Number(concurrency),
  ...(first && { canary: 1 }),
  ...(max.trim() !== '' && { max: Number(max) }),
  ...(perSecond.trim() !== '' && { perSecond: Number(perSecond) }),
})
