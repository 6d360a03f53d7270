/** The search parameters of a page's URL: read and checked by a small table, so that a link never breaks a page. */

/** Reads one parameter; undefined if it is not there or has no value that the page knows. */
export type ReadParameter<Value> = (given: unknown) => Value | undefined

export const asText: ReadParameter<string> = (given) => {
  const [first] = [given].flat()
  return typeof first === 'string' && first !== '' ? first : undefined
}

export const asTexts: ReadParameter<readonly string[]> = (given) => {
  const texts = [given].flat().filter((one) => typeof one === 'string' && one !== '') as string[]
  return texts.length === 0 ? undefined : texts
}

export const asChoice =
  <Value extends string>(values: readonly Value[]): ReadParameter<Value> =>
  (given) =>
    values.find((value) => value === asText(given))

export const asWhole: ReadParameter<number> = (given) => {
  const value = Number(asText(given) ?? (typeof given === 'number' ? given : Number.NaN))
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

type Readers = Readonly<Record<string, ReadParameter<unknown>>>
/** Pages set a parameter to undefined to leave it out. */
export type SearchValues<Table extends Readers> = {
  [Name in keyof Table]?: Exclude<ReturnType<Table[Name]>, undefined> | undefined
}

/** For `validateSearch` of a route: keeps the parameters of the table that have a value. */
export const readSearch =
  <const Table extends Readers>(table: Table) =>
  (given: Readonly<Record<string, unknown>>): SearchValues<Table> =>
    Object.fromEntries(
      Object.entries(table)
        .map(([name, read]) => [name, read(given[name])] as const)
        .filter(([, value]) => value !== undefined),
    ) as SearchValues<Table>

/** For the router: a parameter is a text, or several of one name; the router's own form is JSON. */
export function parseSearch(search: string): Record<string, string | string[]> {
  const parameters = new URLSearchParams(search)
  const entries = [...new Set(parameters.keys())].map((name) => {
    const values = parameters.getAll(name)
    return [name, values.length === 1 ? (values[0] ?? '') : values] as const
  })
  return Object.fromEntries(entries)
}

export function formatSearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    for (const one of [value].flat()) if (one !== undefined && one !== '') parameters.append(name, String(one))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
