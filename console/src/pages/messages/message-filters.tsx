/** The filters of /messages: all those of the API. The ones that are used most come first, the others when asked for. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { SOURCE_WORDS, SOURCES } from '../../../../src/core/origin.ts'
import { endpointNamesFor } from '../../api/endpoint-calls.ts'
import { queries } from '../../api/queries.ts'
import { useCodes } from '../../api/vocabulary.ts'
import { Button } from '../../ui/controls/button.tsx'
import { toChoices } from '../../ui/controls/fields.tsx'
import { type Filter, FilterBar, type FilterValues, SPANS } from '../../ui/controls/filter-bar.tsx'
import {
  apiTime,
  isOfLastDay,
  joinValues,
  localTime,
  type MessagesSearch,
  splitFilterValues,
  toFilters,
} from './messages-search.ts'

const OUTCOMES = [
  { value: 'refused, failed, partial', label: 'not done' },
  ...toChoices(['done', 'partial', 'refused', 'failed']),
]
const SOURCE_CHOICES = SOURCES.map((value) => ({ value, label: SOURCE_WORDS[value].shown }))
const STAGES = [
  'recall',
  'parse',
  'lookup',
  'validate',
  'transform',
  'map',
  'extract',
  'serialise',
  'respond',
  'answer',
]
/** Filters that take one value. */
const ONCE: ReadonlySet<string> = new Set(['replayed', 'captured', 'group'])
const CHOSEN_TIMES = 'times'
const MAX_NAMES = 20

/** Filters that are shown at once; a filter that has a value is always shown. */
const FIRST: ReadonlySet<string> = new Set(['endpoint', 'outcome', 'code', 'error', 'key', 'when'])

export type MessageFiltersProps = Readonly<{
  search: MessagesSearch
  onChange(changes: Readonly<Record<string, string | readonly string[] | undefined>>): void
}>

export function MessageFilterBar({ search, onChange }: MessageFiltersProps) {
  const [all, setAll] = useState(false)
  const [takesTimes, setTakesTimes] = useState(false)
  const [now] = useState(Date.now)
  const { values, several } = shownValues(search, takesTimes, now)
  const filters = useFilters(values.when === CHOSEN_TIMES)
  const change = (changes: FilterValues) => {
    const { when, ...others } = changes
    if ('when' in changes) {
      setTakesTimes(when === CHOSEN_TIMES)
      if (when !== CHOSEN_TIMES) return onChange({ ...toValues(others), from: when, to: undefined })
    }
    const { endpoint } = others
    if (endpoint === undefined) return onChange(toValues(others))
    const take = (names: readonly string[]) => onChange({ ...toValues(others), endpoint: names })
    return void endpointNamesFor(endpoint.trim()).then(take, () => take([endpoint.trim()]))
  }
  return (
    <div className="message-filters stack">
      <FilterBar
        filters={filters.filter(({ name }) => all || FIRST.has(name) || values[name] !== undefined)}
        values={values}
        onChange={change}
      />
      {isOfLastDay(search) && (
        <p role="status" className="hint">
          Texts of failures are searched in the last 24 hours, unless you choose a time, an endpoint or a code.
        </p>
      )}
      <div className="row breaks">
        <Button tone="quiet" expanded={all} onPress={() => setAll(!all)}>
          {all ? 'Fewer filters' : 'More filters'}
        </Button>
        {several.map(({ name, value }) => (
          <Button
            key={`${name} ${value}`}
            tone="quiet"
            label={`Remove the filter ${name} ${value}`}
            onPress={() => onChange({ [name]: valuesWithout(search, name, value) })}
          >
            <bdi>
              {name}: {value}
            </bdi>{' '}
            ×
          </Button>
        ))}
      </div>
    </div>
  )
}

function useFilters(showsTimes: boolean): readonly Filter[] {
  const [typed, setTyped] = useState('')
  const codes = useCodes()
  const { data } = useQuery({
    ...queries.endpointsFound({ ...(typed !== '' && { q: typed }), limit: MAX_NAMES }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const names = data?.endpoints.map(({ name }) => name) ?? []
  const times: readonly Filter[] = [
    { name: 'from', label: 'From', kind: 'datetime' },
    { name: 'to', label: 'To', kind: 'datetime' },
  ]
  return [
    {
      name: 'endpoint',
      label: 'Endpoint',
      kind: 'search',
      placeholder: 'Name or id',
      suggestions: names,
      isWhole: true,
      onTyped: (text) => setTyped(text.slice(0, 200)),
    },
    { name: 'outcome', label: 'Outcome', kind: 'select', choices: OUTCOMES },
    { name: 'code', label: 'Code', kind: 'text', suggestions: codes, isWhole: true },
    { name: 'error', label: 'Text of the failure', kind: 'text', placeholder: 'Part of its sentence' },
    { name: 'key', label: 'Business key', kind: 'text', placeholder: 'patient:123', isWhole: true },
    {
      name: 'when',
      label: 'Time',
      kind: 'select',
      choices: [...SPANS, { value: CHOSEN_TIMES, label: 'From … to …' }],
    },
    ...(showsTimes ? times : []),
    { name: 'stage', label: 'Stage of the failure', kind: 'select', choices: toChoices(STAGES) },
    { name: 'path', label: 'Place in the document', kind: 'text', placeholder: 'requests.lookup[0]', isWhole: true },
    { name: 'version', label: 'Version of the endpoint', kind: 'text', placeholder: '3', isWhole: true },
    { name: 'status', label: 'Status of the answer', kind: 'text', placeholder: '502, or 5xx', isWhole: true },
    { name: 'source', label: 'Source', kind: 'select', choices: SOURCE_CHOICES },
    {
      name: 'replayed',
      label: 'Replayed',
      kind: 'select',
      choices: [
        { value: 'false', label: 'not yet' },
        { value: 'true', label: 'with success' },
      ],
    },
    {
      name: 'captured',
      label: 'Recorded',
      kind: 'select',
      choices: [
        { value: 'true', label: 'by a capture' },
        { value: 'false', label: 'by the usual rules' },
      ],
    },
    { name: 'missed', label: 'Code that a table lacked', kind: 'text', placeholder: 'sex, or sex:M1', isWhole: true },
    { name: 'id', label: 'Ids of messages', kind: 'text', placeholder: 'with commas between them', isWhole: true },
    { name: 'replayOf', label: 'Replays of the message', kind: 'text', placeholder: 'id', isWhole: true },
    { name: 'group', label: 'Group of failures', kind: 'text', placeholder: 'key of the group', isWhole: true },
  ]
}

/** What the fields show, and the values of parameters that have more than a field can show. */
function shownValues(search: MessagesSearch, takesTimes: boolean, nowMs: number) {
  const { from, to, ...others } = toFilters(search)
  const shown = Object.entries(others).map(([name, value]) => [name, joinValues(name, value)] as const)
  const several = Object.entries(others).flatMap(([name, value]) =>
    typeof value === 'object' && joinValues(name, value) === undefined
      ? value.map((one) => ({ name, value: one }))
      : [],
  )
  const isSpan = !takesTimes && to === undefined && SPANS.some(({ value }) => value === from)
  const hasTimes = takesTimes || (!isSpan && (from !== undefined || to !== undefined))
  const times = hasTimes
    ? {
        when: CHOSEN_TIMES,
        from: localTime(search.from, nowMs) || undefined,
        to: localTime(search.to, nowMs) || undefined,
      }
    : { when: search.from }
  const values: FilterValues = { ...Object.fromEntries(shown), ...times }
  return { values, several }
}

function toValues(changes: FilterValues): Record<string, string | readonly string[] | undefined> {
  return Object.fromEntries(
    Object.entries(changes).map(([name, text]) => [
      name,
      text === undefined ? undefined : parseFilterValue(name, text),
    ]),
  )
}

function parseFilterValue(name: string, text: string): string | readonly string[] | undefined {
  if (name === 'from' || name === 'to') return apiTime(text)
  if (ONCE.has(name)) return text.trim()
  return splitFilterValues(name, text)
}

function valuesWithout(search: MessagesSearch, name: string, value: string): readonly string[] | undefined {
  const values = [toFilters(search)[name] ?? []].flat()
  const left = values.filter((one) => one !== value)
  return left.length === 0 ? undefined : left
}
