/** Fields of forms, each with its label, hint and fault. They are elements of the browser, so phones show their own pickers. */
import { type KeyboardEvent, type ReactNode, type Ref, useId } from 'react'

type FieldProps = Readonly<{
  label: string
  /** Only for readers of the screen. */
  hideLabel?: boolean
  hint?: ReactNode
  /** What is wrong with the value. */
  fault?: string | undefined
}>

type Described = Readonly<{ id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }>

function Field({
  label,
  hideLabel = false,
  hint,
  fault,
  children,
}: FieldProps & Readonly<{ children: (props: Described) => ReactNode }>) {
  const id = useId()
  const describedBy = [hint ? `${id}-hint` : '', fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': describedBy === '' ? undefined : describedBy,
        'aria-invalid': fault === undefined ? undefined : true,
      })}
      {hint && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} className="fault">
          {fault}
        </p>
      )}
    </div>
  )
}

export type TextFieldProps = FieldProps &
  Readonly<{
    value: string
    onChange(value: string): void
    type?: 'text' | 'search' | 'password' | 'number' | 'datetime-local'
    placeholder?: string
    isRequired?: boolean
    /** More than one line. */
    rows?: number
    /** As `aria-keyshortcuts`. */
    keys?: string
    /** What the field offers while something is typed. */
    suggestions?: readonly string[]
    /** Called at Enter and when the field is left. */
    onDone?(): void
    /** Called before `onDone`. */
    onKeyDown?(event: KeyboardEvent): void
    ref?: Ref<HTMLInputElement>
  }>

export function TextField({
  value,
  onChange,
  type = 'text',
  placeholder,
  isRequired,
  rows,
  keys,
  suggestions,
  onDone,
  onKeyDown,
  ref,
  ...field
}: TextFieldProps) {
  const list = useId()
  return (
    <Field {...field}>
      {(described) =>
        rows === undefined ? (
          <>
            <input
              {...described}
              ref={ref}
              list={suggestions === undefined ? undefined : list}
              onBlur={onDone}
              onKeyDown={(event) => {
                onKeyDown?.(event)
                if (event.key === 'Enter') onDone?.()
              }}
              type={type}
              value={value}
              placeholder={placeholder}
              required={isRequired}
              aria-keyshortcuts={keys}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => onChange(event.target.value)}
            />
            {suggestions !== undefined && (
              <datalist id={list}>
                {suggestions.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </>
        ) : (
          <textarea
            {...described}
            rows={rows}
            value={value}
            placeholder={placeholder}
            required={isRequired}
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  )
}

export type Choice<Value extends string> = Readonly<{ value: Value; label: string }>

/** Values that are their own labels. */
export const toChoices = <Value extends string>(values: readonly Value[]): readonly Choice<Value>[] =>
  values.map((value) => ({ value, label: value }))

export type SelectFieldProps<Value extends string> = FieldProps &
  Readonly<{ value: Value; choices: readonly Choice<Value>[]; onChange(value: Value): void }>

export function SelectField<Value extends string>({ value, choices, onChange, ...field }: SelectFieldProps<Value>) {
  return (
    <Field {...field}>
      {(described) => (
        <select
          {...described}
          value={value}
          onChange={({ target }) => {
            const chosen = choices.find((choice) => choice.value === target.value)
            if (chosen !== undefined) onChange(chosen.value)
          }}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** `text`: what it says; `children` where that is more than a text. */
export type CheckboxProps = Readonly<{
  text?: string
  children?: ReactNode
  checked: boolean
  onChange(checked: boolean): void
}>

export const Checkbox = ({ text, children, checked, onChange }: CheckboxProps) => (
  <label className="checkbox">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
    <span>{text ?? children}</span>
  </label>
)
