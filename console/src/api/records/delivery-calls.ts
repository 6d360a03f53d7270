/** Durable deliveries: lists, counts, what one sends, and what people do with them. */
import type { Paths } from '../../../../src/api/types.ts'
import { api, readData, type Schemas } from '../client.ts'

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
export type DeliveryPage = Readonly<{ deliveries: readonly ListedDelivery[]; next?: string }>
export type DeliveryCounts = Readonly<{ counts: readonly Schemas['DeliveryCount'][]; oldestAt?: string }>

const of = (id: string) => ({ params: { path: { id } } })

/** A page, newest first. Fails with an ApiFailure, as the calls below. */
export const listDeliveries = (
  filters: DeliveryFilters,
  { limit, cursor }: PageRequest,
  signal?: AbortSignal,
): Promise<DeliveryPage> =>
  readData(
    api.GET('/deliveries', {
      // The API checks the values, and says which of them are wrong.
      params: { query: { ...(filters as DeliveryQuery), limit, ...(cursor && { cursor }) } },
      ...(signal && { signal }),
    }),
  )

export const readDeliveryCounts = (signal?: AbortSignal): Promise<DeliveryCounts> =>
  readData(api.GET('/deliveries/counts', { ...(signal && { signal }) }))

export const readDelivery = (id: string, signal?: AbortSignal): Promise<DeliveryDetail> =>
  readData(api.GET('/deliveries/{id}', { ...of(id), ...(signal && { signal }) }))

/** What it sends, with its body: for operators. */
export const readOutgoing = (id: string, signal?: AbortSignal): Promise<OutgoingRequest> =>
  readData(api.GET('/deliveries/{id}/request', { ...of(id), ...(signal && { signal }) }))

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
