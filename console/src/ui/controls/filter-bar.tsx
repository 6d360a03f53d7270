/** The filters of a list. They are the search parameters of its URL, so that a link shows the same rows. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useKey } from '../keys/keymap.ts'
import { Button } from './button.tsx'
import { type Choice, SelectField, TextField } from './fields.tsx'

/** A filter: `name` is that of the search parameter. */
export type Filter = Readonly<
  { name: string; label: string } & (
    | {
        kind: 'search' | 'text' | 'datetime'
        placeholder?: string
        /** What the field offers. */
        suggestions?: readonly string[]
        /** A part of it means nothing: it applies at Enter, at a suggestion, or when the field is left. */
        isWhole?: boolean
        /** Called with what is typed, for suggestions of the service. */
        onTyped?(text: string): void
      }
    | {
        kind: 'select'
        choices: readonly Choice<string>[]
        /** What no choice means; `Any` unless given. */
        anyLabel?: string
      }
  )
>

export type FilterValues = Readonly<Record<string, string | undefined>>

export type FilterBarProps = Readonly<{
  filters: readonly Filter[]
  values: FilterValues
  /** Called with what changed, undefined for a filter that was cleared, for its URL; by default that has them as they are. */
  onChange?(changes: FilterValues): void
}>

/** Spans of time that end now, as the API writes them. */
export const SPANS = [
  { value: '-15m', label: 'Last 15 minutes' },
  { value: '-1h', label: 'Last hour' },
  { value: '-24h', label: 'Last 24 hours' },
  { value: '-7d', label: 'Last 7 days' },
] as const

/** `/` goes to the first filter. */
export function FilterBar({ filters, values, ...given }: FilterBarProps) {
  const navigate = useNavigate()
  const change = (changes: FilterValues) =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...changes }), replace: true })
  const { onChange = change } = given
  const first = useRef<HTMLInputElement>(null)
  useKey('/', 'Filter the list', () => first.current?.focus())
  const isFiltered = filters.some(({ name }) => values[name] !== undefined)
  const clear = () => onChange(Object.fromEntries(filters.map(({ name }) => [name, undefined])))
  const firstText = filters.find(({ kind }) => kind !== 'select')?.name
  return (
    <search className="filter-bar row" aria-label="Filters">
      {filters.map((filter) =>
        filter.kind === 'select' ? (
          <SelectField
            key={filter.name}
            label={filter.label}
            value={values[filter.name] ?? ''}
            choices={[{ value: '', label: filter.anyLabel ?? 'Any' }, ...filter.choices]}
            onChange={(value) => onChange({ [filter.name]: value === '' ? undefined : value })}
          />
        ) : (
          <TypedFilter
            key={filter.name}
            filter={filter}
            value={values[filter.name] ?? ''}
            onChange={(value) => onChange({ [filter.name]: value === '' ? undefined : value })}
            {...(filter.name === firstText ? { inputRef: first } : {})}
          />
        ),
      )}
      {isFiltered && <Button text="Clear filters" tone="quiet" onPress={clear} />}
    </search>
  )
}

const APPLY_AFTER_MS = 300

type TypedFilterProps = Readonly<{
  filter: Exclude<Filter, { kind: 'select' }>
  value: string
  onChange(value: string): void
  inputRef?: React.Ref<HTMLInputElement>
}>

/** A filter that is typed applies shortly after the last key. */
function TypedFilter({ filter, value, onChange, inputRef }: TypedFilterProps) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  const apply = useEffectEvent(() => onChange(typed))
  const { suggestions, isWhole = false, onTyped } = filter
  const waits = isWhole && typed !== '' && suggestions?.includes(typed) !== true
  useEffect(() => {
    if (typed === value || waits) return undefined
    const timer = setTimeout(apply, APPLY_AFTER_MS)
    return () => clearTimeout(timer)
  }, [typed, value, waits])
  const take = (text: string) => {
    setTyped(text)
    onTyped?.(text)
  }
  return (
    <TextField
      label={filter.label}
      type={filter.kind === 'datetime' ? 'datetime-local' : filter.kind}
      value={typed}
      onChange={take}
      {...(isWhole && { onDone: () => typed !== value && onChange(typed) })}
      {...(suggestions && { suggestions })}
      {...(filter.placeholder === undefined ? {} : { placeholder: filter.placeholder })}
      {...(inputRef === undefined ? {} : { ref: inputRef, keys: '/' })}
    />
  )
}
