/** Durable deliveries: lists, counts, what one sends, and what people do with them. */
import type { Paths } from '../../../../src/api/types.ts'
import { api, get, readData, type Schemas } from '../client.ts'

export type ListedDelivery = Schemas['Delivery']
export type DeliveryDetail = Schemas['DeliveryDetail']
export type RetriedDelivery = Schemas['RetriedDelivery']
export type OutgoingRequest = Schemas['OutgoingRequest']
export type DeliveryState = ListedDelivery['state']

type DeliveryQuery = NonNullable<Paths['/deliveries']['get']['parameters']['query']>
type ManyRequest = NonNullable<Paths['/deliveries/retry']['post']['requestBody']>['content']['application/json']
type RetryRequest = NonNullable<Paths['/deliveries/{id}/retry']['post']['requestBody']>['content']['application/json']

/** Filters of the API by name, as they are written in a URL. */
export type DeliveryFilters = Readonly<Record<string, string | undefined>>

type PageRequest = Readonly<{ limit: number; cursor?: string | undefined }>

const of = (id: string) => ({ params: { path: { id } } })

/** A page, newest first. Fails with an ApiFailure, as the calls below. */
export const listDeliveries = (filters: DeliveryFilters, { limit, cursor }: PageRequest, signal: AbortSignal) =>
  // The API checks the values, and says which of them are wrong.
  get('/deliveries', { query: { ...(filters as DeliveryQuery), limit, ...(cursor && { cursor }) } }, signal)

export const retryDelivery = (id: string, request: RetryRequest): Promise<RetriedDelivery> =>
  readData(api.POST('/deliveries/{id}/retry', { ...of(id), body: request }))

export const cancelDelivery = (id: string): Promise<DeliveryDetail> =>
  readData(api.POST('/deliveries/{id}/cancel', of(id)))

/** All that match the filters. */
export const changeDeliveries = (
  act: 'retry' | 'cancel',
  filters: DeliveryFilters,
): Promise<Schemas['ChangedDeliveries']> => {
  const body = filters as ManyRequest
  return readData(act === 'retry' ? api.POST('/deliveries/retry', { body }) : api.POST('/deliveries/cancel', { body }))
}
