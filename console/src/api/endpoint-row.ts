/** The row of an endpoint in lists, and where it says that messages arrive. */
import type { Schemas } from '../../../src/api/types.ts'
import { ENTRANCES } from '../../../src/core/origin.ts'

export type EndpointRow = Schemas['EndpointSummary']

/** Of an endpoint with a route. */
export type RoutedRow = EndpointRow & Readonly<{ method: string; pattern: string }>
export const isRouted = (row: EndpointRow): row is RoutedRow => row.method !== undefined && row.pattern !== undefined

/** Where messages arrive beside a route, for people. */
export const entrancesBesideRoute = (row: EndpointRow): readonly string[] =>
  ENTRANCES.flatMap(({ words, member }) => (row[member] === undefined ? [] : [`${words} ${row[member]}`]))

/** Where messages arrive: the route, below the origin of the message port if it is given, or else what is there beside it. */
export const formatEntrance = (row: EndpointRow, origin = ''): string =>
  isRouted(row) ? `${row.method} ${origin}${row.pattern}` : entrancesBesideRoute(row).join(', ')
